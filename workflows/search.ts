// What people search workflows by at Temporal: their organization and their state. Runs in Temporal's sandbox too, where a run
// keeps its state up to date if it was started with one; a run without goes on as it began.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

export const orgKey = defineSearchAttributeKey('SvcOrg', SearchAttributeType.KEYWORD);
export const stateKey = defineSearchAttributeKey('SvcState', SearchAttributeType.KEYWORD);

/** The state that a run is started with. */
export const STARTING = 'starting';

/** Shows the state of this run, a word of ours, to those who search. */
export function showState(state: string): void {
  const shown = workflowInfo().typedSearchAttributes.get(stateKey);
  if (shown === undefined || shown === state) return;
  upsertSearchAttributes([{ key: stateKey, value: state }]);
}
