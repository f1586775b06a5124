// Prints every setting with its current value, secrets masked, or all faults at once.
import { readConfig, type Setting, settings } from '@svc/core/kernel/index.ts';
import type { Command } from '../command.ts';

function shown(setting: Setting<unknown>, value: unknown): unknown {
  return setting.secret === true && value !== null ? '(set, secret)' : value;
}

export const command: Command = {
  async run() {
    const config = readConfig() as Readonly<Record<string, unknown>>;
    const rows = Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => ({
      env: setting.env,
      value: shown(setting, config[name]),
      set: config[name] !== setting.fallback,
      doc: setting.doc,
    }));
    const width = Math.max(...rows.map((row) => `${row.env}=${row.value ?? ''}`.length));
    const lines = rows.map((row) => {
      const assignment = `${row.env}=${row.value ?? ''}`.padEnd(width);
      return `${row.set ? '*' : ' '} ${assignment}  # ${row.doc}`;
    });
    return {
      json: { settings: Object.fromEntries(rows.map(({ env, value }) => [env, value])) },
      text: [...lines, '', '* differs from the default'].join('\n'),
    };
  },
};
