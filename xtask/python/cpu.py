"""What a CPU-bound script does: JSON, regular expressions, sorting, sieves, dictionaries, calls."""
import json
import re


def sieve_of_slices(n):
    marks = bytearray([1]) * (n + 1)
    marks[0:2] = b"\0\0"
    for i in range(2, int(n**0.5) + 1):
        if marks[i]:
            marks[i * i :: i] = bytes(len(range(i * i, n + 1, i)))
    return sum(marks)


def sieve_of_loops(n):
    marks, count = [True] * (n + 1), 0
    for i in range(2, n + 1):
        if marks[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                marks[j] = False
    return count


def through_json(n):
    rows = [{"id": i, "name": "user %d" % i, "tags": ["a", "b", str(i)], "v": i / 3} for i in range(n)]
    text = json.dumps(rows)
    return len(text), round(sum(row["v"] for row in json.loads(text)), 6)


def by_pattern(n):
    text = " ".join("key%d=value-%d;" % (i, i * 7) for i in range(n))
    found = re.findall(r"(\w+)=([a-z]+)-(\d+);", text)
    return len(found), len(re.sub(r"\d+", lambda it: str(int(it.group()) + 1), text))


def sorted_thrice(n):
    seed, numbers = 12345, []
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        numbers.append(seed)
    return sorted(numbers)[0], sorted(numbers, key=lambda it: (it % 1000, it))[0], sorted(map(str, numbers))[0]


def counted(n):
    counts = {}
    for i in range(n):
        word = "w%d" % (i * i % 5003)
        counts[word] = counts.get(word, 0) + 1
    return len(counts), max(counts.values())


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


print(sieve_of_slices(3_000_000), sieve_of_loops(600_000), through_json(20_000), by_pattern(20_000))
print(sorted_thrice(100_000), counted(300_000), fibonacci(25))
