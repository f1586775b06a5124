// The job that judges canaries: takes what calls showed since the last look, and rolls back what is worse.
import { type ArmCounts, type CanarySamples, takeSamples } from '../analytics/index.ts';
import type { Context, Id } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { type CanaryKey, findCanary, haltCanary, type PlannedCanary } from '../policies/index.ts';
import { addToWindow, keepVerdict, listWindows, lockCanary } from './store.ts';
import { judge, type Verdict } from './verdict.ts';

/** Windows that are looked at: six weeks of hours. What is older has no part in the judgement any more. */
const WINDOWS_MAX = 1_000;

/** Subscribers learn of a canary that was found good or worse, once for each scope that its version rules. */
async function announce(
  context: Context,
  key: CanaryKey,
  { verdict, scopes }: { readonly verdict: Verdict; readonly scopes: PlannedCanary['scopes'] },
): Promise<void> {
  const { org_id, name, version, endpoint_id } = key;
  const { state, reason } = verdict;
  for (const scope of scopes) {
    const payload = { name, version, scope, endpoint_id, state, reason };
    await writeEvent(context.db, { org_id, topic: 'policy.canary', payload, at: context.now() });
  }
}

/** What is left of `before` and `after`: red is for good, and what was good once is called so until it is red. */
function settled(before: Pick<Verdict, 'state' | 'reason'>, after: Verdict): Verdict {
  if (before.state === 'red') return { ...after, state: 'red', reason: before.reason };
  if (before.state === 'green' && after.state === 'pending') return { ...after, state: 'green' };
  return after;
}

async function judgeOne(context: Context, key: CanaryKey, counts: ArmCounts): Promise<void> {
  const { db } = context;
  const canary = await findCanary(db, key);
  if (canary === null) return;
  const { plan, scopes } = canary;
  const at = context.now();
  const before = await lockCanary(db, key, at);
  const passed_s = (at.getTime() - before.started_at.getTime()) / 1_000;
  await addToWindow(db, key, Math.max(0, Math.floor(passed_s / plan.window_s)), counts);
  const verdict = settled(before, judge(plan, await listWindows(db, key, WINDOWS_MAX)));
  await keepVerdict(db, key, { verdict, counts, at });
  if (verdict.state === before.state) return;
  if (verdict.state === 'red' && plan.on_breach !== 'alert') {
    await haltCanary(db, key, at);
    context.afterCommit(() => context.services.policies?.forget(key.org_id));
  }
  await announce(context, key, { verdict, scopes });
}

function keyOf({ org_id, name, version, endpoint_id }: CanarySamples): CanaryKey {
  return { org_id: org_id as Id<'org'>, name, version, endpoint_id };
}

/**
 * Judges every canary that had calls since the last time; returns how many. Samples, verdict, roll-back and event are one
 * transaction, so that a process that dies in it loses no call and reports none twice.
 */
export function judgeCanaries(context: Context): Promise<number> {
  return context.transaction(async (context) => {
    const all = await takeSamples(context.db);
    for (const samples of all) await judgeOne(context, keyOf(samples), samples);
    return all.length;
  });
}
