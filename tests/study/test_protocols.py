"""Who is trained on and who is tested: the papers' numbers, what is kept apart, and the refusal of leaks."""

import pickle
from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, check_cv, cross_val_score

from svdecode.imaging import Dataset
from svdecode.study import (
    PROTOCOLS,
    Split,
    Splits,
    check_splits,
    class_pairs,
    cycles,
    each_subject,
    inner_splits,
    leave_one_run_out,
    leave_one_sample_out,
    leave_one_subject_out,
    leave_pair_out,
    new_runs,
    new_subjects,
    repeated_random,
    stratified_pooled,
    torn_units,
    vote,
    vote_by_fold,
    whole_runs,
    within_subject,
)


def xi(n_subjects=7, n_runs=8, n_classes=7, seed=0, width=5):
    """Xi's table: 7 subjects × 8 runs × 7 categories, each once a run in an order of its own; 392 rows."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([rng.permutation(n_classes) for _ in range(n_subjects * n_runs)])
    runs = np.tile(np.repeat(np.arange(1, n_runs + 1), n_classes), n_subjects)
    subjects = np.repeat(np.arange(1, n_subjects + 1), n_runs * n_classes)
    return Dataset(rng.standard_normal((len(y), width)), y, runs=runs, subjects=subjects)


def pereira(runs=True):
    """Pereira & Gordon's: one subject, 84 samples, 6 cycles of 14 words, two categories."""
    rng = np.random.default_rng(1)
    y = np.concatenate([rng.permutation(["tool", "building"] * 7) for _ in range(6)])
    return Dataset(rng.standard_normal((84, 5)), y, runs=np.repeat(np.arange(6), 14) if runs else None)


XI = xi()


def sizes(splits):
    return [(len(part.train), len(part.test)) for part in splits]


def test_new_subjects_are_the_last_two_of_seven():
    """Xi 6.2.3: "the first 70 % of subjects, (i.e. 5 subjects out of 7)"."""
    (part,) = new_subjects(XI)
    assert sizes([part]) == [(280, 112)]
    assert set(XI.subjects[part.train]) == {1, 2, 3, 4, 5}
    assert set(XI.subjects[part.test]) == {6, 7}
    assert sizes(new_subjects(XI, n_train=6)) == [(336, 56)]


def test_new_runs_are_the_last_30_percent_of_each_subjects_samples():
    """70 % of 56 are 39: run 6 is cut after four of its seven samples, and that is said."""
    splits = new_runs(XI)
    assert sizes(splits) == [(7 * 39, 7 * 17)] == [(273, 119)]
    for subject in range(1, 8):
        rows = np.flatnonzero(XI.subjects == subject)
        np.testing.assert_array_equal(np.intersect1d(splits[0].train, rows), rows[:39])
    assert splits.kept_apart == ()
    assert torn_units(XI, splits, "runs") == [f"subject {s} run 6" for s in range(1, 8)]


def test_whole_runs_are_six_of_eight():
    splits = whole_runs(XI)
    assert sizes(splits) == [(294, 98)]
    assert set(XI.runs[splits[0].test]) == {7, 8}
    assert torn_units(XI, splits, "runs") == []
    with pytest.raises(ValueError, match="n_train: found 8, expected fewer than the 8 runs of a subject"):
        whole_runs(XI, n_train=8)


def test_within_subject_is_42_and_14_of_each():
    splits = within_subject(XI)
    assert sizes(splits) == [(42, 14)] * 7
    assert splits.names == [f"subject {s}" for s in range(1, 8)]
    for subject, part in enumerate(splits, start=1):
        assert set(XI.subjects[part.train]) == set(XI.subjects[part.test]) == {subject}
        assert part.train.max() < part.test.min()
    assert torn_units(XI, splits, "runs") == []  # 42 samples are six whole runs


def test_pairwise_tables_have_multiples_of_1_28():
    """Xi 6.2.3, tables 2 and 3: 42 of the 56 samples of each stimulus to train on, 14 to test."""
    splits = class_pairs(XI)
    assert [part.classes for part in splits] == list(combinations(range(7), 2))
    assert sizes(splits) == [(84, 28)] * 21
    for part in splits:
        for rows, count in ((part.train, 42), (part.test, 14)):
            labels, counts = np.unique(XI.y[rows], return_counts=True)
            assert tuple(labels) == part.classes
            assert counts.tolist() == [count, count]
    scores = 28 * cross_val_score(RidgeClassifier(), XI.X, XI.y, cv=splits)
    np.testing.assert_allclose(scores, np.round(scores), atol=1e-9)


def test_the_published_tables_are_of_this_shape():
    """Every entry of her tables 2 and 3 that is printed with five digits is a multiple of 1/28."""
    printed = [0.46429, 0.60714, 0.64286, 0.85714, 0.89286, 0.67857, 0.96429, 0.82143, 0.78571, 0.92857]
    printed += [0.57143, 0.53571]
    assert all(abs(28 * value - round(28 * value)) < 28 * 0.5e-5 for value in printed)


def test_the_share_of_each_stimulus_is_the_front_of_each_subjects():
    splits = stratified_pooled(XI)
    assert sizes(splits) == [(294, 98)]
    np.testing.assert_array_equal(splits[0].train, whole_runs(XI)[0].train)  # six of eight runs, here
    pooled = stratified_pooled(XI, by_subject=False)
    assert sizes(pooled) == [(294, 98)]
    assert set(XI.subjects[pooled[0].train]) == {1, 2, 3, 4, 5, 6}  # the front of 56 in file order
    drawn = stratified_pooled(XI, n_repeats=5, random_state=3)
    assert sizes(drawn) == [(294, 98)] * 5
    for part in drawn:
        assert np.unique(XI.y[part.test], return_counts=True)[1].tolist() == [14] * 7
        assert np.unique(XI.subjects[part.test], return_counts=True)[1].tolist() == [14] * 7


def test_leave_one_sample_out():
    splits = leave_one_sample_out(XI)
    assert sizes(splits) == [(391, 1)] * 392
    assert [int(part.test[0]) for part in splits] == list(range(392))


def test_leave_one_subject_out():
    splits = leave_one_subject_out(XI)
    assert sizes(splits) == [(336, 56)] * 7
    assert splits.kept_apart == ("subjects",)


def test_a_run_is_a_run_of_its_subject():
    """Runs of all subjects are numbered 1 to 8 in the data; there are 56 of them."""
    splits = leave_one_run_out(XI)
    assert sizes(splits) == [(385, 7)] * 56
    assert splits.names[:2] == ["subject 1 run 1", "subject 1 run 2"]
    groups = XI.subjects * 100 + XI.runs
    expected = list(LeaveOneGroupOut().split(XI.X, XI.y, groups))
    for part, (train, test) in zip(splits, expected, strict=True):
        np.testing.assert_array_equal(part.train, train)
        np.testing.assert_array_equal(part.test, test)


def test_runs_of_one_number_left_out_in_all_subjects_at_once():
    splits = leave_one_run_out(XI, across_subjects=True)
    assert sizes(splits) == [(343, 49)] * 8
    assert splits.names == [f"run {r}" for r in range(1, 9)]


def test_six_cycles_of_fourteen():
    """Pereira & Gordon 3.2: 84 samples in 6 cycles."""
    for data in (pereira(), pereira(runs=False)):
        splits = cycles(data)
        assert sizes(splits) == [(70, 14)] * 6
        np.testing.assert_array_equal(np.concatenate([part.test for part in splits]), np.arange(84))
        inner = inner_splits(data, splits[2].train, splits)
        assert sizes(inner) == [(56, 14)] * 5  # the other cycles
        assert not np.isin(np.concatenate([inner[0].train, inner[0].test]), splits[2].test).any()
    assert sizes(cycles(pereira(), n_cycles=2)) == [(42, 42)] * 2
    with pytest.raises(ValueError, match="n_cycles: found 7, expected at most the 6 runs of a subject"):
        cycles(pereira(), n_cycles=7)


def test_cycles_are_made_of_whole_runs():
    splits = cycles(XI)  # eight runs in six cycles: two, two, and four times one
    assert sizes(splits) == [(294, 98)] * 2 + [(343, 49)] * 4
    assert torn_units(XI, splits, "runs") == []


def test_each_subject_by_itself():
    splits = each_subject(XI, protocol=leave_one_run_out)
    assert sizes(splits) == [(49, 7)] * 56
    assert splits.names[8] == "subject 2 run 1"
    for part in splits:
        assert len(set(XI.subjects[part.train]) | set(XI.subjects[part.test])) == 1
    assert sizes(inner_splits(XI, splits[8].train, splits)) == [(42, 7)] * 7
    assert sizes(each_subject(XI, protocol="cycles", n_cycles=4)) == [(42, 14)] * 28
    pairs = each_subject(XI, protocol="class_pairs", train_share=0.75)
    assert sizes(pairs) == [(12, 4)] * (7 * 21)
    assert pairs[21].name == "subject 2 0 | 1"
    assert pairs[21].classes == (0, 1)
    assert pairs[21].fold == "subject 2 front samples"


@pytest.mark.parametrize(("by", "n_test"), [("samples", 98), ("runs", 98), ("subjects", 112)])
def test_repeated_random_splits(by, n_test):
    splits = repeated_random(XI, by=by, n_repeats=6, random_state=5)
    assert [len(part.test) for part in splits] == [n_test] * 6
    assert len({tuple(part.test) for part in splits}) >= 5  # of 21 pairs of subjects one may come twice
    again = repeated_random(XI, by=by, n_repeats=6, random_state=5)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(splits, again, strict=True))
    if by == "samples":
        assert np.unique(XI.y[splits[0].test], return_counts=True)[1].tolist() == [14] * 7
    else:
        assert torn_units(XI, splits, by) == []
        assert splits.kept_apart == (by,)
    if by == "runs":  # two runs of each subject
        assert np.unique(XI.subjects[splits[0].test], return_counts=True)[1].tolist() == [14] * 7


def test_leave_pair_out_takes_each_pair_of_different_classes():
    data = pereira()
    splits = leave_pair_out(data)
    assert len(splits) == 42 * 42
    assert len({tuple(part.test) for part in splits}) == 42 * 42
    assert all(data.y[part.test[0]] != data.y[part.test[1]] and len(part.train) == 82 for part in splits)
    some = leave_pair_out(data, n_pairs=30, random_state=2)
    assert len({tuple(part.test) for part in some}) == 30
    assert len(leave_pair_out(xi(1, 2, 3))) == comb(3, 2) * 2 * 2
    with pytest.raises(ValueError, match="n_pairs: found 2000, expected at most the 1764"):
        leave_pair_out(data, n_pairs=2000)


# what holds for all of them


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_keeps_its_promises(name):
    splits = PROTOCOLS[name](XI) if name != "leave_pair_out" else leave_pair_out(XI, n_pairs=50)
    assert len(set(splits.names)) == len(splits)
    check_splits(XI, splits, splits.kept_apart)
    for part in splits:
        assert not np.intersect1d(part.train, part.test).size
        assert np.isin(XI.y[part.test], XI.y[part.train]).all()
        assert not part.train.flags.writeable


BY_CLASS = {"stratified_pooled", "class_pairs", "leave_pair_out", "repeated_random"}


@pytest.mark.parametrize("name", sorted(set(PROTOCOLS) - BY_CLASS))
def test_labels_that_are_permuted_change_no_protocol_that_does_not_stratify(name):
    """No protocol looks at X, nor, unless it divides by class, at y."""
    other = xi(seed=9)
    for a, b in zip(PROTOCOLS[name](XI), PROTOCOLS[name](other), strict=True):
        np.testing.assert_array_equal(a.test, b.test)


def test_scikit_learn_takes_splits_as_cv():
    splits = leave_one_run_out(pereira())
    data = pereira()
    assert check_cv(splits) is splits
    assert splits.get_n_splits() == len(splits) == 6
    search = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1]}, cv=splits).fit(data.X, data.y)
    assert clone(search).cv.names == splits.names
    again = pickle.loads(pickle.dumps(splits))
    scores = [cross_val_score(RidgeClassifier(), data.X, data.y, cv=cv) for cv in (splits, again)]
    np.testing.assert_array_equal(*scores)
    groups = cross_val_score(RidgeClassifier(), data.X, data.y, cv=LeaveOneGroupOut(), groups=data.runs)
    np.testing.assert_array_equal(scores[0], groups)
    with pytest.raises(ValueError, match="X: found 83 rows, expected the 84 rows that the splits of"):
        next(splits.split(data.X[1:]))


# leaks, each made on purpose


def test_refused_a_row_on_both_sides():
    with pytest.raises(ValueError, match=r"test \(bad\): found row 2 among the training rows too"):
        Split([0, 1, 2], [2, 3], "bad")


def test_refused_rows_twice_or_none():
    with pytest.raises(ValueError, match=r"train \(bad\): found row 1 twice"):
        Split([0, 1, 1], [2], "bad")
    with pytest.raises(ValueError, match=r"test \(bad\): found an array of shape \(0,\)"):
        Split([0, 1], [], "bad")


def test_refused_a_row_that_is_not_there():
    with pytest.raises(ValueError, match=r"splits \(bad\): found row 392, expected 0 to 391"):
        check_splits(XI, [Split(np.arange(200), [392], "bad")], ())


def test_refused_a_run_on_both_sides():
    rows = np.arange(392)
    with pytest.raises(ValueError, match=r"test \(bad\): found samples of subject 1 run 2 among"):
        check_splits(XI, [Split(rows[:10], rows[10:14], "bad")])
    # run 2 of another subject is another run
    check_splits(XI, [Split(rows[:56], rows[56:112], "fine")])
    with pytest.raises(ValueError, match=r"found samples of subject 1 among"):
        check_splits(XI, [Split(rows[:49], rows[49:56], "bad")], ("subjects",))


def test_refused_a_test_class_that_was_never_seen():
    train = np.flatnonzero((XI.runs < 8) & (XI.y != 3))
    with pytest.raises(ValueError, match=r"train \(bad\): found no sample of class 3, which is tested"):
        check_splits(XI, [Split(train, np.flatnonzero(XI.runs == 8), "bad")])
    # a protocol refuses too: class "c" is in run 2 only
    data = Dataset(np.eye(6), list("abcabb"), runs=[1, 1, 2, 2, 3, 3])
    with pytest.raises(ValueError, match=r"train \(run 2\): found no sample of class 'c'"):
        leave_one_run_out(data)


def test_refused_training_rows_of_one_class():
    with pytest.raises(ValueError, match=r"found class 3 only, expected at least two classes"):
        check_splits(XI, [Split(np.flatnonzero(XI.y == 3)[:-1], np.flatnonzero(XI.y == 3)[-1:], "bad")], ())


def test_refused_a_label_that_was_never_on():
    Y = np.zeros((6, 2))
    Y[:, 0], Y[5, 1] = [1, 0, 1, 0, 1, 0], 1
    data = Dataset(np.eye(6), Y, runs=[1, 1, 2, 2, 3, 3])
    with pytest.raises(ValueError, match=r"train \(run 3\): found no sample with label 1, which is tested"):
        leave_one_run_out(data)


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        (leave_one_run_out, "runs: found None, expected the run of each sample"),
        (leave_one_subject_out, "subjects: found None, expected the subject of each sample"),
        (whole_runs, "runs: found None"),
        (new_subjects, "subjects: found None"),
        (each_subject, "subjects: found None"),
    ],
)
def test_refused_data_without_the_units(protocol, message):
    with pytest.raises(ValueError, match=message):
        protocol(Dataset(np.eye(4), list("abab")))


def test_refused_shares_that_leave_nothing():
    with pytest.raises(ValueError, match="train_share: found 7 of 7 subjects to train on"):
        new_subjects(XI, train_share=0.99)
    with pytest.raises(ValueError, match="train_share: found 0 of 56 samples"):
        within_subject(XI, train_share=0.001)
    with pytest.raises(ValueError, match="runs: found one only, expected at least two to leave one out"):
        leave_one_run_out(XI.select((XI.subjects == 1) & (XI.runs == 1)))
    with pytest.raises(ValueError, match="protocol: found 'leave_run', expected one of 'repeated_random'"):
        each_subject(XI, protocol="leave_run")


# one against one


def naive_vote(pairs, said):
    """Count, and break ties of two by their own contest."""
    out = []
    for column in np.asarray(said).T:
        labels = sorted({c for pair in pairs for c in pair})
        counts = {c: int((column == c).sum()) for c in labels}
        most = [c for c in labels if counts[c] == max(counts.values())]
        if len(most) == 2:
            most = [column[pairs.index(tuple(most))]]
        out.append(most if len(most) > 2 else most[0])
    return out


def test_vote_counts_and_breaks_ties_of_two_by_their_contest():
    rng = np.random.default_rng(4)
    pairs = list(combinations(range(5), 2))
    said = np.array([rng.choice(pair, 400) for pair in pairs])
    kinds = set()
    for given, naive in zip(vote(pairs, said), naive_vote(pairs, said), strict=True):
        kinds.add(type(naive))
        assert given in naive if isinstance(naive, list) else given == naive
    assert list in kinds  # longer ties occurred too


def test_a_circle_is_broken_by_scores_and_at_last_by_order():
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    circle = [["a"], ["c"], ["b"]]  # a beats b, b beats c, c beats a
    assert vote(pairs, circle).tolist() == ["a"]
    # positive for the second: a beats b by 1, c beats a by 3, b beats c by 1: c leads with 3 - 1
    assert vote(pairs, circle, [[-1.0], [3.0], [-1.0]]).tolist() == ["c"]
    assert vote(pairs[::-1], circle[::-1], [[-1.0], [3.0], [-1.0]]).tolist() == ["c"]


def test_votes_are_checked():
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(ValueError, match=r"predictions: found .*'c'.* from the classifier of \('a', 'b'\)"):
        vote(pairs, [["c"], ["c"], ["c"]])
    with pytest.raises(ValueError, match=r"predictions: found an array of shape \(1, 1\), expected 3 rows"):
        vote(pairs, [["a"]])
    with pytest.raises(ValueError, match="scores: found an array of shape"):
        vote(pairs, [["a"], ["c"], ["b"]], [[1.0]])


def test_voting_over_the_folds_of_a_protocol():
    data = xi(2, 4, 3, width=8)
    data.X[np.arange(len(data.y)), data.y] += 4.0
    splits = class_pairs(data, protocol=leave_one_run_out, across_subjects=True, test="all")
    assert sizes(splits) == [(12, 6)] * 12
    assert splits[0].name == "run 1: 0 | 1"
    said = [RidgeClassifier().fit(data.X[s.train], data.y[s.train]).predict(data.X[s.test]) for s in splits]
    by_fold = vote_by_fold(splits, said)
    assert list(by_fold) == ["run 1", "run 2", "run 3", "run 4"]
    rows = np.concatenate([rows for rows, _ in by_fold.values()])
    np.testing.assert_array_equal(np.sort(rows), np.arange(24))
    right = np.concatenate([labels == data.y[rows] for rows, labels in by_fold.values()])
    assert right.mean() > 0.9
    with pytest.raises(ValueError, match="expected test='all'"):
        vote_by_fold(class_pairs(data), [data.y[s.test] for s in class_pairs(data)])


def test_splits_say_what_they_are():
    splits = whole_runs(XI)
    assert isinstance(splits, Splits)
    assert repr(splits) == "Splits(whole_runs: 1 split of 392 samples)"
    assert splits.names == ["new runs"]
    assert len(splits[:1]) == 1
