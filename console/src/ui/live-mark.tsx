// Whether the page listens, in words.
import type { LiveState } from '../api/use-live.ts';
import { Status } from './status.tsx';

const marks = {
  off: ['mute', 'mute', 'Not listening'],
  connecting: ['mute', 'half', 'Connecting'],
  open: ['ok', 'run', 'Listening'],
  resting: ['mute', 'half', 'Resting'],
  lost: ['warn', 'warn', 'Reconnecting'],
} as const;

export function LiveMark({ state, held = false }: { state: LiveState; held?: boolean }) {
  const [tone, shape, word] = held && state === 'open' ? (['warn', 'half', 'Held'] as const) : marks[state];
  return (
    <Status tone={tone} shape={shape} plain>
      {word}
    </Status>
  );
}
