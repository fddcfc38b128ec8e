"""The REST API of companions, their conversations and their memories, with one router per resource."""
