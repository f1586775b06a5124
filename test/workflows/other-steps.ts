// A `topUp` that does something else first, to show that replaying notices.
import { sleep } from '@temporalio/workflow';

/** Sleeps before anything. */
export async function topUp(): Promise<void> {
  await sleep(1_000);
}
