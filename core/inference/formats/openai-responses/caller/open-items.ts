// The item or part that is open in a stream of a response.
import type { ReasoningPart, ToolCallPart } from '../../../canonical/types.ts';
import type { TextStream } from './text-stream.ts';

export type Place = { id: string; index: number };
export type OpenMessage = Place & {
  kind: 'message';
  phase: string;
  parts: string[];
  part: TextStream | null;
};
export type OpenThought = Place & {
  kind: 'reasoning';
  part: ReasoningPart;
  stream: TextStream | null;
};
export type OpenCall = Place & {
  kind: 'call';
  part: ToolCallPart;
  call_id: string;
  stream: TextStream;
};
/** `silent`: a part that the caller does not see. */
export type Open = OpenMessage | OpenThought | OpenCall | { kind: 'silent' };
