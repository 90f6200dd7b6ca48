import configparser, xml.etree.ElementTree as E, urllib.parse as u, calendar, shlex, fnmatch, ipaddress, email.message, mimetypes, sys, tomllib
c=configparser.ConfigParser(); c.read_string("[a]\nx=1\ny=%(x)s2\n"); print(c["a"]["y"], c.getint("a","x")); c.write(sys.stdout)
r=E.fromstring("<r><i k='1'>t</i><i/></r>"); print([x.attrib for x in r.iter("i")], E.tostring(r)); E.indent(r); print(E.tostring(r,encoding="unicode"))
print(u.urlparse("http://u:p@h:80/p;x?q=1#f"), u.quote("a b/é"), u.parse_qs("a=1&a=2"), u.urljoin("http://a/b/c","../d"), u.urlencode({"x":"a b"})); print(calendar.month(2024,2), calendar.isleap(1900)); print(shlex.split("a 'b c' \"d\""), fnmatch.filter(["a.py","b"],"*.py"), ipaddress.ip_network("10.0.0.0/30").num_addresses, mimetypes.guess_type("a.html"), tomllib.loads("a=[1,2]"))
m=email.message.EmailMessage(); m["Subject"]="s"; m.set_content("b"); print(m)
