// Encodes samples as a WAV file: 16 bits, one channel.

const HEADER = 44;

export function wav(samples, rate) {
  const view = new DataView(new ArrayBuffer(HEADER + samples.length * 2));
  const write = (at, text) => [...text].forEach((sign, n) => view.setUint8(at + n, sign.charCodeAt(0)));
  write(0, "RIFF");
  view.setUint32(4, HEADER - 8 + samples.length * 2, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  write(36, "data");
  view.setUint32(40, samples.length * 2, true);
  samples.forEach((one, n) => {
    const bounded = Math.max(-1, Math.min(1, one));
    view.setInt16(HEADER + n * 2, Math.round(bounded * 32767), true);
  });
  return view.buffer;
}
