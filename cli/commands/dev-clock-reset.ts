// Returns a development installation to the machine's clock.

import { now } from '@svc/core/kernel/index.ts';
import { resetClock } from '@svc/core/runtime/index.ts';
import type { Command } from '../command.ts';
import { developmentDatabase } from '../installation.ts';

export const command: Command = {
  async run() {
    await developmentDatabase(resetClock);
    return { json: { offset_ms: 0, now: now().toISOString() }, text: `now ${now().toISOString()}` };
  },
};
