"""Instructions that threads execute at once, alone or with others of their CTA; asynchronous ones are beside."""
