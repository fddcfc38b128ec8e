"""Control tokens of chat templates, made harmless in what is sent: a server that reads them in a message's text would
take what a document says for the system's own words. Pure.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

# Each is its first character and a pattern of what follows it, matched as the servers do: letter by letter. Full-width
# signs stand for plain ones in some tokenisers.
TOKENS = (
    # <|im_start|> ChatML, Qwen, Yi; <|eot_id|> Llama; <|user|> Phi, GLM; <|start|> Harmony; <|endoftext|> GPT
    ("<", r"[|｜][^\s<>＜＞|｜]{1,80}[|｜][>＞]"),
    ("＜", r"[|｜][^\s<>＜＞|｜]{1,80}[|｜][>＞]"),
    # <｜begin▁of▁sentence｜> DeepSeek, where blanks may stand for ▁; ｜DSML｜ in its calls of tools
    ("<", r"｜[^\n<>＜＞|｜]{1,80}｜[>＞]"),
    ("｜", r"DSML｜"),
    # <|turn> and <turn|> Gemma 4
    ("<", r"\|(?:turn|channel|think|image|audio|video|tool(?:_call|_response)?)>"),
    ("<", r"(?:turn|channel|image|audio|video|tool(?:_call|_response)?)\|>"),
    # <start_of_turn> Gemma; <bos> and its kin of many
    ("<", r"(?i:(?:start|end)_of_(?:turn|image|audio)>)"),
    ("<", r"(?i:/?(?:bos|eos|pad|unk)>)"),
    # <s> Llama, Mistral and all that began as SentencePiece
    ("<", r"/?s>"),
    # <<SYS>> Llama 2
    ("<", r"(?i:</?sys>>)"),
    # [INST] Llama 2 and Mistral
    ("[", r"/?INST\]"),
    ("[", r"/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|MODEL_SETTINGS)\]"),
    ("[", r"/?(?:THINK|CALL_ID|ARGS|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|PREFIX|MIDDLE|SUFFIX)\]"),
    # [gMASK]<sop> GLM; [BOS] Kimi, EXAONE
    ("[", r"(?:g|s)?MASK\]"),
    ("<", r"(?:sop|eop)>"),
    ("[", r"(?:BOS|EOS|EOT|PAD|UNK)\]"),
    # [|system|] EXAONE
    ("[", r"\|(?:system|user|assistant|tool|endofturn)\|\]"),
    # <BOS_TOKEN> Command R
    ("<", r"(?:BOS|EOS|EOP|PAD|UNK|MASK)_TOKEN>"),
    # <tool_call> and <think> Qwen, Hermes, GLM, DeepSeek; <arg_key> GLM
    ("<", r"(?i:/?(?:tool_calls?|tool_response|think|arg_key|arg_value)>)"),
    # ]~!b[ ]~b] [e~[ <minimax:tool_call> MiniMax
    ("]", r"~(?:!b\[|b\])"),
    ("[", r"e~\["),
    ("<", r"/?(?:minimax|seed):[a-z_]{1,40}>"),  # and <seed:bos> Seed
    # <extra_id_0> Nemotron, T5; <unused0> Gemma; <reserved_106> Baichuan
    ("<", r"(?i:(?:extra_id_|unused|reserved_|special_)\d{1,6}>)"),
)
# What follows is looked at and not taken, for a token may begin within another. One branch for each first character:
# between those the search runs in C, a millisecond for a long prompt.
FIRST = re.compile(
    "|".join(
        f"{re.escape(first)}(?={'|'.join(rest for beginning, rest in TOKENS if beginning == first)})"
        for first in dict.fromkeys(first for first, _rest in TOKENS)
    )
)
NO_TEXT = frozenset({"role", "type", "image_url", "input_audio", "file"})  # of a message, or a part of one


def neutralise_messages(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages as they may be sent: no text in them is read as a control token. What holds none stays as it is."""
    return [_in_all(message) for message in messages]


def neutralise(text: str) -> str:
    """The text with a blank in each control token; what has none, or has been through here, stays as it is."""
    return FIRST.sub(r"\g<0> ", text)


def _in_all(value: Any) -> Any:
    if isinstance(value, str):
        return neutralise(value)
    if isinstance(value, Mapping):
        return {name: _in_field(name, one) for name, one in value.items()}
    return [_in_all(one) for one in value] if isinstance(value, list | tuple) else value


def _in_field(name: str, value: Any) -> Any:
    if name == "arguments" and isinstance(value, str):
        return _in_json(value)
    return value if name in NO_TEXT else _in_all(value)


def _in_json(text: str) -> str:
    r"""The arguments of a call, which a template may open: there "\u003cs>" is a token."""
    if "\\" in text:
        try:
            plain = json.dumps(json.loads(text), ensure_ascii=False)
        except (ValueError, RecursionError):
            plain = text
        if FIRST.search(plain):
            return neutralise(plain)
    return neutralise(text)
