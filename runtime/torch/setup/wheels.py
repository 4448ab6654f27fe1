"""Which wheels make a libtorch, and what is kept of them.

Sizes and SHA-256 are those of the published files; `unpacked` is what remains on disk.
Wheels of CPython 3.11 are taken on every Python, since none of their Python code is used.
libtorch_cpu.so of the Linux wheels needs the CUDA runtime and CUPTI libraries even where
there is no GPU; both are small.
"""
import collections

TORCH_VERSION = "2.11.0"

# keep: patterns of libraries, which land in lib/ under their bare names. drop: exceptions, headers too.
# headers: folder for what lies below an include/ of the wheel, file by file.
# folders: whole folders of the wheel, by prefix.
Wheel = collections.namedtuple("Wheel", "name version tag file sha256 size unpacked keep drop headers folders")

TORCH_INCLUDE = {"torch/include/": "include"}
NOT_LINKED = ("*/libtorch_python.*", "*/libshm.*", "*/libtorch_global_deps.*")
NVIDIA_UNUSED = ("*/libnvblas.so*", "*.alt.*", "*/libcufftw.so*", "*/libcusolverMg.so*", "*/libcheckpoint.so",
                 "*/libpcsamplingutil.so", "*/include/cccl/*")
CPU_NEEDS = {"nvidia-cuda-runtime": "*/libcudart.so.13", "nvidia-cuda-cupti": "*/libcupti.so.13"}
CPU_LIBRARIES = {
    "linux-x86_64": ("libtorch_cpu.so", "libc10.so", "libgomp.so.1"),
    "linux-aarch64": ("libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libarm_compute*.so", "libgfortran.so.5",
                      "libnvpl_*.so.0"),
    "darwin-aarch64": ("libtorch_cpu.dylib", "libtorch.dylib", "libc10.dylib", "libomp.dylib"),
}

# name, version, tags of the file name, sha256, bytes of the wheel, bytes unpacked
NVIDIA_X86_64 = [
    ("nvidia-cuda-cccl", "13.0.85", "manylinux2014_x86_64.manylinux_2_17_x86_64",
     "e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649", 3120526, 40000),
    ("nvidia-cuda-crt", "13.0.88", "manylinux2014_x86_64.manylinux_2_17_x86_64",
     "2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4", 134086, 877000),
    ("nvidia-cublas", "13.1.0.3", "manylinux_2_27_x86_64",
     "ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171", 423133236, 596332617),
    ("nvidia-cuda-cupti", "13.0.85", "manylinux_2_25_x86_64",
     "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8", 10715597, 43081518),
    ("nvidia-cuda-nvrtc", "13.0.88", "manylinux2010_x86_64.manylinux_2_12_x86_64",
     "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575", 90215200, 113763567),
    ("nvidia-cuda-runtime", "13.0.96", "manylinux2014_x86_64.manylinux_2_17_x86_64",
     "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548", 2243632, 4795610),
    ("nvidia-cudnn-cu13", "9.19.0.56", "manylinux_2_27_x86_64",
     "d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf", 366066321, 493786362),
    ("nvidia-cufft", "12.0.0.61", "manylinux2014_x86_64.manylinux_2_17_x86_64",
     "6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3", 214085489, 286592413),
    ("nvidia-cufile", "1.15.1.6", "manylinux2014_x86_64.manylinux_2_17_x86_64",
     "08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44", 1223672, 3259694),
    ("nvidia-curand", "10.4.0.35", "manylinux_2_27_x86_64",
     "1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc", 59544258, 134803400),
    ("nvidia-cusolver", "12.0.4.66", "manylinux_2_27_x86_64",
     "0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112", 200941980, 141408703),
    ("nvidia-cusparse", "12.6.3.3", "manylinux2014_x86_64.manylinux_2_17_x86_64",
     "2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b", 145942937, 162864662),
    ("nvidia-cusparselt-cu13", "0.8.0", "manylinux2014_x86_64",
     "25e30a8a7323935d4ad0340b95a0b69926eee755767e8e0b1cf8dd85b197d3fd", 169884119, 233631302),
    ("nvidia-nccl-cu13", "2.28.9", "manylinux_2_18_x86_64",
     "e4553a30f34195f3fa1da02a6da3d6337d28f2003943aa0a3d247bbc25fefc42", 196493177, 218285842),
    ("nvidia-nvjitlink", "13.0.88", "manylinux2010_x86_64.manylinux_2_12_x86_64",
     "13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b", 40713933, 98823949),
    ("nvidia-nvshmem-cu13", "3.4.5", "manylinux2014_x86_64.manylinux_2_17_x86_64",
     "290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80", 60412546, 46554872),
]
NVIDIA_AARCH64 = [
    ("nvidia-cuda-cccl", "13.0.85", "manylinux2014_aarch64.manylinux_2_17_aarch64",
     "6f0203e29fed809ee2b7fe9b1344df66ecab990c37d6a2e0e189b26d6c97ed7c", 3120528, 40000),
    ("nvidia-cuda-crt", "13.0.88", "manylinux2014_aarch64.manylinux_2_17_aarch64",
     "ee2ea2a97073e02ee62bb27841f437332be2c248e3eac013df07997ada39c003", 134086, 877000),
    ("nvidia-cublas", "13.1.0.3", "manylinux_2_27_aarch64",
     "c86fc7f7ae36d7528288c5d88098edcb7b02c633d262e7ddbb86b0ad91be5df2", 542851226, 692407017),
    ("nvidia-cuda-cupti", "13.0.85", "manylinux_2_25_aarch64",
     "796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151", 10310827, 42193731),
    ("nvidia-cuda-nvrtc", "13.0.88", "manylinux2014_aarch64.manylinux_2_17_aarch64",
     "d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b", 43015449, 103931287),
    ("nvidia-cuda-runtime", "13.0.96", "manylinux2014_aarch64.manylinux_2_17_aarch64",
     "ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55", 2261060, 4799074),
    ("nvidia-cudnn-cu13", "9.19.0.56", "manylinux_2_27_aarch64",
     "6ed29ffaee1176c612daf442e4dd6cfeb6a0caa43ddcbeb59da94953030b1be4", 433781201, 534012914),
    ("nvidia-cufft", "12.0.0.61", "manylinux2014_aarch64.manylinux_2_17_aarch64",
     "2708c852ef8cd89d1d2068bdbece0aa188813a0c934db3779b9b1faa8442e5f5", 214053554, 283335813),
    ("nvidia-cufile", "1.15.1.6", "manylinux_2_27_aarch64",
     "bdc0deedc61f548bddf7733bdc216456c2fdb101d020e1ab4b88d232d5e2f6d1", 1136992, 3095422),
    ("nvidia-curand", "10.4.0.35", "manylinux_2_27_aarch64",
     "133df5a7509c3e292aaa2b477afd0194f06ce4ea24d714d616ff36439cee349a", 61962106, 149994440),
    ("nvidia-cusolver", "12.0.4.66", "manylinux_2_27_aarch64",
     "02c2457eaa9e39de20f880f4bd8820e6a1cfb9f9a34f820eb12a155aa5bc92d2", 223467760, 153829863),
    ("nvidia-cusparse", "12.6.3.3", "manylinux2014_aarch64.manylinux_2_17_aarch64",
     "80bcc4662f23f1054ee334a15c72b8940402975e0eab63178fc7e670aa59472c", 162155568, 175142054),
    ("nvidia-cusparselt-cu13", "0.8.0", "manylinux2014_aarch64",
     "400c6ed1cf6780fc6efedd64ec9f1345871767e6a1a0a552a1ea0578117ea77c", 220791277, 273899838),
    ("nvidia-nccl-cu13", "2.28.9", "manylinux_2_18_aarch64",
     "01c873ba1626b54caa12272ed228dc5b2781545e0ae8ba3f432a8ef1c6d78643", 196561677, 219645650),
    ("nvidia-nvjitlink", "13.0.88", "manylinux2014_aarch64.manylinux_2_17_aarch64",
     "e931536ccc7d467a98ba1d8b89ff7fa7f1fa3b13f2b0069118cd7f47bff07d0c", 38768748, 89276157),
    ("nvidia-nvshmem-cu13", "3.4.5", "manylinux2014_aarch64.manylinux_2_17_aarch64",
     "6dc2a197f38e5d0376ad52cd1a2a3617d3cdc150fd5966f4aee9bcebb1d68fe9", 60215947, 46387680),
]

# tag, sha256, bytes of the wheel, bytes unpacked for the CPU and for CUDA, NVIDIA wheels
TABLE = {
    "linux-x86_64": ("manylinux_2_28_x86_64", "7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a",
                     530604548, 492000000, 1007000000, NVIDIA_X86_64),
    "linux-aarch64": ("manylinux_2_28_aarch64", "d91aac77f24082809d2c5a93f52a5f085032740a1ebc9252a7b052ef5a4fddc6",
                      419718178, 333000000, 755000000, NVIDIA_AARCH64),
    "darwin-aarch64": ("macosx_11_0_arm64", "7b6a60d48062809f58595509c524b88e6ddec3ebe25833d6462eeab81e5f2ce4",
                       80529712, 258000000, 0, []),
}


def torch_wheel(platform, device):
    tag, sha256, size, cpu, cuda, _ = TABLE[platform]
    if device == "cuda":
        keep, unpacked = ("torch/lib/*.so*",), cuda
    else:
        keep, unpacked = tuple("torch/lib/" + name for name in CPU_LIBRARIES[platform]), cpu
    name = "torch-%s-cp311-cp311-%s.whl" % (TORCH_VERSION, tag)
    return Wheel("torch", TORCH_VERSION, tag, name, sha256, size, unpacked, keep, NOT_LINKED, None, TORCH_INCLUDE)


def nvidia_wheel(row, device):
    name, version, tags, sha256, size, unpacked = row
    file = "%s-%s-py3-none-%s.whl" % (name.replace("-", "_"), version, tags)
    tag = tags.split(".")[0]
    if device == "cuda":
        return Wheel(name, version, tag, file, sha256, size, unpacked, ("nvidia/*/lib/*.so*",), NVIDIA_UNUSED,
                     "cuda/include", {})
    return Wheel(name, version, tag, file, sha256, size, 5000000, (CPU_NEEDS[name],), (), None, {})


def recipe(platform, device):
    """The wheels for a platform and device in the order of fetching; None if there is no such build."""
    nvidia = TABLE[platform][5]
    if device == "cuda" and not nvidia:
        return None
    chosen = [row for row in nvidia if device == "cuda" or row[0] in CPU_NEEDS]
    return [nvidia_wheel(row, device) for row in chosen] + [torch_wheel(platform, device)]
