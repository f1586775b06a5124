// A single server-sent event in the raw lane.
import { isObject } from '../../kernel/index.ts';

/** Ends an event. */
export const BLANK_LINE = Buffer.from('\n\n');

/** An event of `type`, in the form that every client reads. */
export function eventOf(type: string, data: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`event: ${type}\ndata: `), Buffer.from(data), BLANK_LINE]);
}

interface Lines {
  event: string | null;
  /** In one line, whatever it came in. Null: a comment, or an event without data. */
  data: string | null;
  /** Exactly one event line and one data line, each with one space after its colon. */
  plain: boolean;
}

/** The lines of one event, whose line ends are LF. */
export function readLines(text: string): Lines {
  const lines: Lines = { event: null, data: null, plain: true };
  let n = 0;
  for (const line of text.replace(/\n+$/, '').split('\n')) {
    n++;
    if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5);
      lines.plain &&= line[5] === ' ' && n === 2 && lines.data === null;
      // Between the tokens of JSON a space is as good as a line end, and what is written is one line.
      lines.data = lines.data === null ? value : `${lines.data} ${value}`;
    } else if (line.startsWith('event:')) {
      lines.event = line.slice(line[6] === ' ' ? 7 : 6);
      lines.plain &&= line[6] === ' ' && n === 1;
    } else lines.plain = false;
  }
  return lines;
}

/** Whether `bytes` are an event whose data is a complete JSON object. */
export function isWholeEvent(bytes: Buffer): boolean {
  const { data } = readLines(bytes.toString('utf8'));
  try {
    return data !== null && isObject(JSON.parse(data));
  } catch {
    return false;
  }
}
