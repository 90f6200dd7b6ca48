import sys; m = type(sys)("drydock"); m.__file__ = "<drydock>"; sys.modules["drydock"] = m
exec(compile(sys.argv.pop(), "<drydock>", "exec"), m.__dict__); del m
sys.exit(sys.modules["drydock"]._main())
