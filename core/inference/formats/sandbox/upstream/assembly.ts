// Builds a whole answer from the events of its stream.
import type { Candidate, CanonicalAnswer, CanonicalEvent, Part } from '../../../canonical/types.ts';

/** Collects events; `bytes` is the JSON of the answer, cut short when its end mark never came. */
export class Assembly {
  private readonly candidates: Candidate[] = [];
  private usage: CanonicalAnswer['usage'] = null;
  private finished = false;
  private upstream_model: string | undefined;
  private upstream_id: string | undefined;

  add(event: CanonicalEvent): void {
    switch (event.type) {
      case 'start':
        this.upstream_model = event.upstream_model;
        this.upstream_id = event.upstream_id;
        break;
      case 'part_start':
        this.candidate(event.candidate).content.push({ ...event.content });
        break;
      case 'part_delta':
        extend(this.candidate(event.candidate).content[event.part], event);
        break;
      case 'stop':
        this.candidate(event.candidate).stop = event.stop;
        break;
      case 'usage':
        this.usage = event.usage;
        break;
      case 'finish':
        this.finished = true;
        break;
    }
  }

  bytes(): Buffer {
    if (this.candidates.length === 0) this.candidate(0);
    const answer: CanonicalAnswer = {
      candidates: this.candidates,
      usage: this.usage,
      ...(this.upstream_model !== undefined && { upstream_model: this.upstream_model }),
      ...(this.upstream_id !== undefined && { upstream_id: this.upstream_id }),
    };
    const whole = Buffer.from(JSON.stringify(answer));
    return this.finished ? whole : whole.subarray(0, whole.length >> 1);
  }

  private candidate(index: number): Candidate {
    for (let i = this.candidates.length; i <= index; i++) {
      this.candidates.push({ index: i, content: [], stop: null });
    }
    return this.candidates[index] as Candidate;
  }
}

function extend(part: Part | undefined, delta: Extract<CanonicalEvent, { type: 'part_delta' }>): void {
  if (part === undefined) return;
  if (part.type === 'tool_call') part.arguments += delta.arguments ?? '';
  else if ('text' in part) part.text += delta.text ?? '';
  if (part.type === 'reasoning' && delta.signature !== undefined) part.signature = delta.signature;
}
