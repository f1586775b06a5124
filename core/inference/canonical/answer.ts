// What a provider answers, apart from any wire: events of a stream, a whole answer, how it stops and what goes wrong.
import type { Usage } from '../../pricing/index.ts';
import type { Citation, Logprob, Part } from './parts.ts';
import type { Ranked, Vector } from './tasks/task.ts';

export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'content_filter'
  | 'refusal'
  | 'pause'
  | 'context_window'
  | 'compaction'
  | 'malformed'
  | 'error';

export interface Stop {
  reason: StopReason;
  sequence?: string;
  /** The family's own word, kept for the record. */
  raw?: string;
  detail?: unknown;
}

export interface Warning {
  code: string;
  param?: string;
  message: string;
}

/** Class of a provider's fault (docs/outcomes.md#faults-of-a-provider). */
export type FaultClass =
  | 'context_length'
  | 'content_filter'
  | 'client'
  | 'auth'
  | 'quota'
  | 'model_missing'
  | 'server'
  | 'too_large'
  | 'rate_limit'
  | 'overloaded'
  | 'network'
  | 'timeout'
  | 'protocol'
  | 'stream'
  | 'truncated'
  | 'idle';

/** What went wrong at a provider; the raw status and texts stay beside the class. */
export interface UpstreamFault {
  class: FaultClass;
  /** The provider's HTTP status; 0 when there was none. */
  status: number;
  /** The provider's text, already bounded to 2,000 characters; shown to callers only for some classes. */
  message: string;
  code?: string;
  type?: string;
  param?: string;
  retry_after_ms?: number;
  /** For class `stream`: the class the event itself would have had as an HTTP answer. */
  inner?: FaultClass;
}

/** Upstream accepted; carries what is known of the input (Anthropic's message_start usage). */
interface StartEvent {
  type: 'start';
  upstream_model?: string;
  upstream_id?: string;
  usage?: Partial<Usage>;
  service_tier?: string;
}

interface PartStartEvent {
  type: 'part_start';
  candidate: number;
  part: number;
  /** With empty text or arguments, except parts that come whole (server_tool, encrypted reasoning, image). */
  content: Part;
}

export interface PartDeltaEvent {
  type: 'part_delta';
  candidate: number;
  part: number;
  text?: string;
  arguments?: string;
  data?: string;
  signature?: string;
  citation?: Citation;
  logprobs?: Logprob[];
}

/** By kind. Parts of one candidate never interleave. */
export interface Events {
  start: StartEvent;
  part_start: PartStartEvent;
  part_delta: PartDeltaEvent;
  part_stop: { type: 'part_stop'; candidate: number; part: number };
  stop: { type: 'stop'; candidate: number; stop: Stop };
  /** Cumulative; the last one counts. */
  usage: { type: 'usage'; usage: Usage; service_tier?: string };
  /** The upstream's own end mark ([DONE], message_stop). Its absence after a stop is not a fault; before, it is a cut. */
  finish: { type: 'finish' };
  error: { type: 'error'; fault: UpstreamFault };
}

/** One event of the canonical stream, without `seq`. */
export type CanonicalEvent = Events[keyof Events];

export interface Candidate {
  index: number;
  content: Part[];
  /** null: the provider gave none (not charged when the answer is empty: docs/outcomes.md#empty-answer-is-free). */
  stop: Stop | null;
}

/** A whole answer. */
export interface CanonicalAnswer {
  /** Of an embed task, in the order of its inputs. */
  vectors?: Vector[];
  /** Of a rerank task, best first. */
  ranking?: Ranked[];
  candidates: Candidate[];
  /** null when the provider reported none (docs/outcomes.md#usage-missing). */
  usage: Usage | null;
  upstream_model?: string;
  upstream_id?: string;
  service_tier?: string;
  system_fingerprint?: string;
}
