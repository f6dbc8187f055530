"""A step of TRL's GRPO: execution accuracy moves a tiny model's weights."""

import math

import pytest

import workbench as wb
from workbench.replies import Unread
from workbench.sql.executor import Executor
from workbench.train.rewards import execution_reward

RIGHT, WRONG = "SELECT count(*) FROM animal", "SELECT 5"
GROUP = 8  # completions of a prompt, whose rewards are compared


def read(text):
    """A model that has learned nothing writes no SQL, so its letters stand for queries."""
    kind = sum(map(ord, text)) % 3
    if kind == 2:
        raise Unread("a letter")
    return (RIGHT, WRONG)[kind]


@pytest.mark.filterwarnings("default")
def test_a_step_of_grpo_has_finite_gradients_and_changes_the_weights(
    model, tiny, sandbox, tmp_path
):
    import datasets
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    benchmark = wb.open_benchmark("bird", tiny.write_bird(tmp_path / "bird"))
    reward = execution_reward(
        benchmark, read, unread=-0.5, executor=Executor(sandbox=sandbox)
    )
    prompt = [{"role": "user", "content": "How many?"}]
    rows = datasets.Dataset.from_list([{"prompt": prompt, "question_id": 0}])
    settings = GRPOConfig(
        str(tmp_path / "out"),
        max_steps=1,
        per_device_train_batch_size=GROUP,
        num_generations=GROUP,
        max_completion_length=6,
        learning_rate=0.01,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        seed=1,
    )
    trained = AutoModelForCausalLM.from_pretrained(model)
    before = {name: weights.clone() for name, weights in trained.state_dict().items()}
    trainer = GRPOTrainer(
        trained,
        reward,
        settings,
        train_dataset=rows,
        processing_class=AutoTokenizer.from_pretrained(model),
    )
    trainer.train()
    step = next(entry for entry in trainer.state.log_history if "grad_norm" in entry)
    assert -0.5 < step["rewards/execution_accuracy/mean"] < 1
    # Else no completion is better than another.
    assert step["rewards/execution_accuracy/std"] > 0
    assert 0 < step["grad_norm"] < math.inf
    after = trained.state_dict()
    assert all(weights.isfinite().all() for weights in after.values())
    assert any(not torch.equal(before[name], after[name]) for name in before)
