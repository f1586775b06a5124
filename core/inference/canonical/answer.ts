// What a provider answers, independent of any wire format: events of a stream, a whole answer, stop reasons and
// faults.
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
  /** The provider's own stop reason, kept for the record. */
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

/** What went wrong at a provider, with the original status and texts beside the class. */
export interface UpstreamFault {
  class: FaultClass;
  /** The provider's HTTP status; 0 when there was none. */
  status: number;
  /** The provider's text, cut to 2,000 characters. Shown to callers only for some classes. */
  message: string;
  code?: string;
  type?: string;
  param?: string;
  retry_after_ms?: number;
  /** For class `stream`: the class that the error would have had as an HTTP answer. */
  inner?: FaultClass;
}

/** The provider has accepted the request. Carries what is known of the input (usage in Anthropic's message_start). */
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
  /** Has empty text or arguments, except for parts that arrive whole (server_tool, encrypted reasoning, image). */
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

/** Events by kind. Parts of one candidate never interleave. */
export interface Events {
  start: StartEvent;
  part_start: PartStartEvent;
  part_delta: PartDeltaEvent;
  part_stop: { type: 'part_stop'; candidate: number; part: number };
  stop: { type: 'stop'; candidate: number; stop: Stop };
  /** Cumulative; the last one counts. */
  usage: { type: 'usage'; usage: Usage; service_tier?: string };
  /**
   * The provider's end mark ([DONE], message_stop). When it is missing after a stop, that is no fault; when it is
   * missing before, the stream was cut off.
   */
  finish: { type: 'finish' };
  error: { type: 'error'; fault: UpstreamFault };
}

/** One event of the canonical stream, without `seq`. */
export type CanonicalEvent = Events[keyof Events];

export interface Candidate {
  index: number;
  content: Part[];
  /**
   * Null: the provider gave no stop reason (an empty answer is then not charged:
   * docs/outcomes.md#empty-answer-is-free).
   */
  stop: Stop | null;
}

/** A whole answer. */
export interface CanonicalAnswer {
  /** Of an embed task, in the order of the inputs. */
  vectors?: Vector[];
  /** Of a rerank task, most relevant first. */
  ranking?: Ranked[];
  candidates: Candidate[];
  /** Null when the provider reported no usage (docs/outcomes.md#usage-missing). */
  usage: Usage | null;
  upstream_model?: string;
  upstream_id?: string;
  service_tier?: string;
  system_fingerprint?: string;
}
