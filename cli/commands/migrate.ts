// Brings the database to this release.
import { migrate } from '@svc/core/db/index.ts';
import type { Command } from '../command.ts';
import { databaseUrl } from '../installation.ts';

export const command: Command = {
  async run() {
    const applied = await migrate(databaseUrl());
    const text = applied.length === 0 ? 'up to date' : applied.map((name) => `applied ${name}`).join('\n');
    return { json: { applied }, text };
  },
};
