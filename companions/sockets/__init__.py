"""The WebSockets of a signed-in person.

frames         what a client sends to a companion's socket
person_socket  what all sockets have in common: identifying the person, listening, and when a socket is closed
consumers      the socket of a companion, and the one for everything else
authorization  who may open a socket, and whether it may stay open
signals        has sockets check that when a session, token, person or companion ends
"""
