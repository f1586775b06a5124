// Prints every setting with its value, secrets masked, or all faults at once: of what `make up` runs on the data
// directory, else of this shell.
import { type Setting, settings } from '@svc/core/kernel/index.ts';
import type { Command } from '../command.ts';
import { findInstallation } from '../installation.ts';
import { shownSettings } from '../shown-settings.ts';

const all: readonly Setting<unknown>[] = Object.values(settings);

export const command: Command = {
  async run() {
    const { config, data_dir, up } = findInstallation();
    const here = shownSettings(config);
    const values = up?.settings ?? here;
    // What this shell does not set is chosen by `make up`, so it is no difference.
    const others = all
      .filter(({ env }) => process.env[env] !== undefined && String(here[env]) !== String(values[env]))
      .map(({ env }) => env);
    const width = Math.max(...all.map(({ env }) => `${env}=${values[env] ?? ''}`.length));
    const lines = all.map(({ env, doc, fallback }) => {
      const mark = String(values[env]) === String(fallback) ? ' ' : '*';
      return `${others.includes(env) ? '!' : mark} ${`${env}=${values[env] ?? ''}`.padEnd(width)}  # ${doc}`;
    });
    const of =
      up === null
        ? 'Settings of this shell: programs that are started from it have them.'
        : `Settings of what \`make up\` runs on ${data_dir}.`;
    const changed = '! set to something else in this shell, which counts from the next start';
    const legend = ['* differs from the default', ...(others.length > 0 ? [changed] : [])];
    return {
      json: { of: up === null ? 'shell' : 'running', settings: values, set_otherwise: others },
      text: [of, '', ...lines, '', ...legend].join('\n'),
    };
  },
};
