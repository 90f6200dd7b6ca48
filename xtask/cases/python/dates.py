from datetime import *
d=datetime(2024,2,29,12,34,56,789); print(d, d.isoformat(), d+timedelta(days=366,seconds=1.5), d.strftime("%A %d %B %Y %j %U %p %I"), d.weekday())
print(datetime.strptime("2023-01-02 03:04","%Y-%m-%d %H:%M"), date.fromisoformat("2020-12-31").isocalendar())
t=timezone(timedelta(hours=5,minutes=30)); print(datetime(2024,1,1,tzinfo=t).astimezone(timezone.utc), repr(timedelta(-1,5)))
print(datetime.fromtimestamp(0, timezone.utc), datetime.utcfromtimestamp(86400) if False else '', d.timestamp() if False else '')
