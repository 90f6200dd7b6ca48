import logging, sys
logging.basicConfig(level=logging.DEBUG, format="%(levelname)s:%(name)s:%(lineno)d:%(message)s"); l=logging.getLogger("a.b"); l.info("x %d",1); l.warning("w")
try: 1/0
except Exception: l.exception("bad")
h=logging.StreamHandler(sys.stdout); l.addHandler(h); l.error("to stdout"); logging.getLogger().handlers[0].flush()
