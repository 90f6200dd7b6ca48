import random
random.seed(42); print(random.random(), random.randint(1,100), random.choice("abc"), random.sample(range(100),5), random.gauss(0,1), random.choices([1,2],k=4)); x=list(range(8)); random.shuffle(x); print(x); print(random.Random("s").random())
