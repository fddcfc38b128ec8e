"""How requests go out.

guarded_http    the only way to an address that a person, a card or a file has supplied
guarded_client  the same rules for the SDK's asynchronous client
clients         the clients of each event loop (options: what they are all made with)
sdk_errors      the errors of the SDK, translated into Kith's
"""
