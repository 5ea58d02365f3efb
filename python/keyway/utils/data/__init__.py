"""Loading data: datasets, samplers and the DataLoader."""

from keyway.utils.data._workers import WorkerInfo as WorkerInfo, get_worker_info as get_worker_info
from keyway.utils.data.collate import default_collate as default_collate, default_convert as default_convert
from keyway.utils.data.dataloader import DataLoader as DataLoader
from keyway.utils.data.dataset import (
    ChainDataset as ChainDataset, ConcatDataset as ConcatDataset, Dataset as Dataset,
    IterableDataset as IterableDataset,
    StackDataset as StackDataset, Subset as Subset, TensorDataset as TensorDataset, random_split as random_split,
)
from keyway.utils.data.sampler import (
    BatchSampler as BatchSampler, RandomSampler as RandomSampler, Sampler as Sampler,
    SequentialSampler as SequentialSampler, SubsetRandomSampler as SubsetRandomSampler,
    WeightedRandomSampler as WeightedRandomSampler,
)
