// One choice of a stream: its state, and its tool calls as deltas in order.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { CallSequence, type CallStep } from '../words/calls.ts';

/** State of one choice of the stream. */
export class RawChoice {
  readonly index: number;
  readonly calls = new CallSequence();
  readonly extras = new Map<number, string>();
  refusal = false;
  legacy_call = false;
  /** The finish chunk, held to the end. */
  held: string | null = null;

  constructor(index: number) {
    this.index = index;
  }

  get called(): boolean {
    return this.legacy_call || this.calls.length > 0;
  }
}

/** JSON text of a choice of ours. */
export function choiceOf(index: number, delta: string, finish = 'null'): string {
  return `{"index":${index},"delta":{${delta}},"logprobs":null,"finish_reason":${finish}}`;
}

/** Insides of the deltas for `steps`, each with one call. */
export function stepDeltas(choice: RawChoice, steps: readonly CallStep[], request_id: string): string[] {
  const deltas: string[] = [];
  for (const step of steps) {
    if (step.step === 'close') continue;
    const { call } = step;
    const extra = choice.extras.get(call.slot) ?? '';
    choice.extras.delete(call.slot);
    const member = call.kind === 'custom' ? 'input' : 'arguments';
    let entry: string;
    if (step.step === 'open') {
      const id = JSON.stringify(call.id === '' ? `call_${request_id}_${call.slot}` : call.id);
      const name = JSON.stringify(call.name);
      entry = `"id":${id},"type":"${call.kind}","${call.kind}":{"name":${name},"${member}":""}`;
    } else {
      entry = `"${call.kind}":{"${member}":${JSON.stringify(step.text)}}`;
    }
    deltas.push(`"tool_calls":[{"index":${call.slot},${entry}${extra}}]`);
  }
  return deltas;
}

/** Whether one entry says exactly what its one step says, in the form of the grammar. */
export function inOrder(entry: JsonObject, all: readonly CallStep[]): boolean {
  const steps = all.filter(({ step }) => step !== 'close');
  const [step] = steps;
  if (steps.length !== 1 || step === undefined || step.step === 'close') return false;
  const { call } = step;
  if (entry['index'] !== call.slot) return false;
  const body = entry[call.kind];
  if (!isObject(body)) return false;
  const text = body[call.kind === 'custom' ? 'input' : 'arguments'];
  if (step.step === 'open') {
    return (
      entry['type'] === call.kind &&
      call.id !== '' &&
      entry['id'] === call.id &&
      text === '' &&
      'name' in body
    );
  }
  return !('id' in entry) && !('type' in entry) && !('name' in body) && text === step.text;
}
