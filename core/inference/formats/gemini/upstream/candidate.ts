// Turns one candidate of a running answer into canonical events. The provider sends pieces of parts without saying
// where a part ends, so the next piece decides; a call arrives whole.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { customInput } from '../../../canonical/custom-tools.ts';
import type { AudioPart, CanonicalEvent, Citation, Logprob, Part } from '../../../canonical/types.ts';
import { FORMAT } from './content.ts';
import { type CitedText, groundingCitations, recitations } from './grounding.ts';
import { isUnspecified, readStop } from './stop.ts';

type Delta = Extract<CanonicalEvent, { type: 'part_delta' }>;

export interface ReadingRules {
  /** Names of the tools that were sent as functions with one field `input`. */
  readonly custom: ReadonlySet<string>;
  /** Whether the text is kept, to find the places of citations in it. */
  readonly keeps_text: boolean;
}

function nonEmpty(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

// A chunk with a call is parsed with exact numbers, which may be objects.
function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number(JSON.stringify(value ?? 0));
}

function tokenOf(value: unknown): { token: string; logprob: number; bytes: number[] | null } {
  const item = isObject(value) ? value : {};
  const token = typeof item['token'] === 'string' ? item['token'] : '';
  return { token, logprob: numberOf(item['logProbability']), bytes: [...Buffer.from(token)] };
}

function logprobsOf(result: unknown): Logprob[] | null {
  if (!isObject(result) || !Array.isArray(result['chosenCandidates'])) return null;
  const tops = Array.isArray(result['topCandidates']) ? result['topCandidates'] : [];
  const logprobs = result['chosenCandidates'].map((chosen, i) => {
    const top: unknown = isObject(tops[i]) ? tops[i]['candidates'] : null;
    return { ...tokenOf(chosen), top: Array.isArray(top) ? top.map(tokenOf) : [] };
  });
  return logprobs.length === 0 ? null : logprobs;
}

export class CandidateReader {
  readonly index: number;
  readonly #rules: ReadingRules;
  #parts = 0;
  #open: 'text' | 'thought' | null = null;
  /** Signature of a text. It follows the text as an empty thought, because a text part has no field for it. */
  #signature: string | null = null;
  #called = false;
  #spoke = false;
  /** The open text part: its text if that is kept, and whether it is ASCII. */
  #text = '';
  #ascii = true;
  #cited = new Set<string>();
  /** The latest metadata, as text. */
  #metadata = '';

  constructor(index: number, rules: ReadingRules) {
    this.index = index;
    this.#rules = rules;
  }

  /** Handles the candidate's share of one chunk. Returns false when it ended without a reason and without content. */
  take(wire: JsonObject, out: CanonicalEvent[]): boolean {
    const content = wire['content'];
    const parts = isObject(content) && Array.isArray(content['parts']) ? content['parts'] : [];
    let logprobs = logprobsOf(wire['logprobsResult']);
    const sizes: number[] = [];
    for (const part of parts) {
      if (!isObject(part)) continue;
      const is_text = this.#part(part, logprobs, out);
      if (is_text) logprobs = null;
      sizes.push(this.#rules.keeps_text && is_text ? Buffer.byteLength(part['text'] as string) : 0);
    }
    this.#cite(wire, sizes, out);
    const stop = readStop(wire, this.#called);
    if (stop === null) return true;
    if (isUnspecified(wire) && !this.#spoke) return false;
    this.close(out);
    out.push({ type: 'stop', candidate: this.index, stop });
    return true;
  }

  /** Ends what is open. */
  close(out: CanonicalEvent[]): void {
    this.#end(out);
    const signature = this.#signature;
    if (signature === null) return;
    this.#signature = null;
    this.#begin({ type: 'reasoning', text: '', kind: 'full', format: FORMAT }, out);
    this.#delta({ signature }, out);
    this.#stop(out);
  }

  /** Whether `wire` was text of the answer. */
  #part(wire: JsonObject, logprobs: Logprob[] | null, out: CanonicalEvent[]): boolean {
    const signature = nonEmpty(wire['thoughtSignature']);
    if (isObject(wire['functionCall'])) {
      this.#call(wire['functionCall'], signature, out);
      return false;
    }
    if (typeof wire['text'] === 'string') {
      if (wire['thought'] === true) this.#thought(wire['text'], signature, out);
      else this.#say(wire['text'], { signature, logprobs }, out);
      return wire['thought'] !== true && wire['text'] !== '';
    }
    // Drafts of an image are thoughts; they are not part of the answer.
    if (wire['thought'] !== true) this.#other(wire, out);
    if (signature !== null) this.#signature = signature;
    return false;
  }

  #thought(text: string, signature: string | null, out: CanonicalEvent[]): void {
    if (text === '' && signature === null) return;
    if (this.#open !== 'thought') {
      this.close(out);
      this.#open = 'thought';
      this.#begin({ type: 'reasoning', text: '', kind: 'full', format: FORMAT }, out);
    }
    if (text !== '') this.#delta({ text }, out);
    if (signature === null) return;
    this.#delta({ signature }, out);
    // What follows has a signature of its own.
    this.#end(out);
  }

  #say(
    text: string,
    more: { signature: string | null; logprobs: Logprob[] | null },
    out: CanonicalEvent[],
  ): void {
    if (text !== '') {
      if (this.#open !== 'text') {
        this.close(out);
        this.#open = 'text';
        this.#text = '';
        this.#ascii = true;
        this.#begin({ type: 'text', text: '' }, out);
      }
      if (this.#rules.keeps_text) this.#text += text;
      this.#ascii &&= isAscii(text);
      this.#delta(more.logprobs === null ? { text } : { text, logprobs: more.logprobs }, out);
    }
    if (more.signature !== null) this.#signature = more.signature;
  }

  #call(call: JsonObject, signature: string | null, out: CanonicalEvent[]): void {
    this.close(out);
    this.#called = true;
    const name = nonEmpty(call['name']) ?? '';
    const kind = this.#rules.custom.has(name) ? 'custom' : 'function';
    const json = JSON.stringify(call['args'] ?? {});
    const part: Part = { type: 'tool_call', id: nonEmpty(call['id']) ?? '', name, arguments: '', kind };
    this.#begin(signature === null ? part : { ...part, signature, format: FORMAT }, out);
    this.#delta({ arguments: kind === 'custom' ? customInput(json) : json }, out);
    this.#stop(out);
  }

  #other(wire: JsonObject, out: CanonicalEvent[]): void {
    const [name] = Object.keys(wire).filter((key) => key !== 'thoughtSignature');
    if (name === undefined) return;
    this.close(out);
    const part = mediaPart(wire['inlineData']) ?? ownPart(name, wire);
    if (part.type === 'audio') this.#sound(part, out);
    else this.#begin(part, out);
    this.#stop(out);
  }

  /** Audio is emitted as a delta, as everywhere: its first bytes are content, with which the stream has begun. */
  #sound(part: AudioPart, out: CanonicalEvent[]): void {
    const { base64: data, media_type } = part.src as Extract<AudioPart['src'], { base64: string }>;
    this.#begin({ ...part, src: { base64: '', media_type } }, out);
    if (data !== '') this.#delta({ data }, out);
  }

  // The citations of a chunk belong to the text that it ends or follows.
  #cite(wire: JsonObject, sizes: readonly number[], out: CanonicalEvent[]): void {
    const grounding = wire['groundingMetadata'];
    const recited = wire['citationMetadata'];
    if (this.#open !== 'text' || (!isObject(grounding) && !isObject(recited))) return;
    // Some servers repeat the metadata on every chunk; finding the places again takes time in proportion to the text.
    const metadata = JSON.stringify([grounding, recited]);
    if (metadata === this.#metadata) return;
    this.#metadata = metadata;
    const text: CitedText = {
      text: this.#rules.keeps_text ? this.#text : null,
      ascii: this.#ascii,
      baseOf: (part) => sizes.slice(0, part).reduce((sum, size) => sum + size, 0),
    };
    const citations: Citation[] = isObject(grounding) ? groundingCitations(grounding, text) : [];
    if (isObject(recited)) citations.push(...recitations(recited, text));
    for (const citation of citations) {
      const key = JSON.stringify(citation);
      if (this.#cited.has(key)) continue;
      this.#cited.add(key);
      this.#delta({ citation }, out);
    }
  }

  #begin(content: Part, out: CanonicalEvent[]): void {
    this.#spoke = true;
    out.push({ type: 'part_start', candidate: this.index, part: this.#parts, content });
  }

  #delta(members: Omit<Delta, 'type' | 'candidate' | 'part'>, out: CanonicalEvent[]): void {
    out.push({ type: 'part_delta', candidate: this.index, part: this.#parts, ...members });
  }

  #stop(out: CanonicalEvent[]): void {
    out.push({ type: 'part_stop', candidate: this.index, part: this.#parts++ });
  }

  #end(out: CanonicalEvent[]): void {
    if (this.#open === null) return;
    this.#open = null;
    this.#text = '';
    this.#stop(out);
  }
}

/** Generated media; null when `wire` is none. */
function mediaPart(data: unknown): Part | null {
  if (!isObject(data) || typeof data['data'] !== 'string') return null;
  const media_type = nonEmpty(data['mimeType']) ?? 'application/octet-stream';
  const src = { base64: data['data'], media_type };
  if (media_type.startsWith('image/')) return { type: 'image', src };
  return media_type.startsWith('audio/') ? { type: 'audio', src } : null;
}

/** A part that only this family can read again: code that ran at the provider, and unknown parts. */
function ownPart(name: string, payload: JsonObject): Part {
  return { type: 'server_tool', family: 'gemini', name, payload };
}
