// The first sentence of Home: whether calls are answered. It never says that all is well beside a figure that says
// otherwise. Pure.
import { plural } from '../../ui/format/numbers.ts';

interface RecentCall {
  readonly status: 'OK' | 'ERROR' | 'CANCELLED' | 'REJECTED';
}

interface Standing {
  readonly tone: 'ok' | 'bad' | 'warn' | 'mute';
  readonly text: string;
  /** The calls that are meant, as the filter of Requests. */
  readonly status?: 'error' | 'rejected';
}

const RECENT = 20;

/** "3 of the last 20 calls", "all of the last 20 calls". */
function ofLast(count: number, all: number): string {
  if (all === 1) return 'the last call';
  return `${count === all ? 'all' : count} of the last ${plural(all, 'call')}`;
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/**
 * What comes first: no credit, then calls that fail, then calls that are refused. `available_micro` is null for who may not
 * see it; `recent` are calls, newest first.
 */
export function standing(available_micro: string | null, recent: readonly RecentCall[]): Standing {
  if (available_micro !== null && Number(available_micro) <= 0) {
    return { tone: 'bad', text: 'No credit is left, so calls are refused.' };
  }
  const last = recent.slice(0, RECENT);
  if (last.length === 0) return { tone: 'mute', text: 'No call has arrived yet.' };
  const count = (status: RecentCall['status']) => last.filter((call) => call.status === status).length;
  const [failed, refused, left] = [count('ERROR'), count('REJECTED'), count('CANCELLED')];
  const parts = [
    failed > 0 ? `${ofLast(failed, last.length)} failed` : '',
    refused > 0 ? `${ofLast(refused, last.length)} ${refused === 1 ? 'was' : 'were'} refused` : '',
  ].filter(Boolean);
  if (parts.length > 0) {
    const tone = failed + refused === last.length ? 'bad' : 'warn';
    return { tone, text: sentence(parts.join(', ')), status: failed > 0 ? 'error' : 'rejected' };
  }
  const answered = last.length - left;
  if (answered === 0)
    return { tone: 'mute', text: sentence(`${ofLast(left, left)} ended when the caller left`) };
  const was = answered === 1 ? 'was' : 'were';
  return { tone: 'ok', text: sentence(`${ofLast(answered, last.length)} ${was} answered`) };
}
