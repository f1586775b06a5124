// Brings the database to this release.
import { migrate } from '@svc/core/db/index.ts';
import type { Command } from '../command.ts';
import { databaseUrl } from '../installation.ts';

export const command: Command = {
  async run() {
    const { applied, newer } = await migrate(databaseUrl());
    const lines = [
      ...applied.map((name) => `applied ${name}`),
      ...newer.map((name) => `warning: of a later release, compatible with this one: ${name}`),
    ];
    return { json: { applied, newer }, text: lines.length === 0 ? 'up to date' : lines.join('\n') };
  },
};
