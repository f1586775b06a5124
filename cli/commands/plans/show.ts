// Shows what plans cost and allow, and what changes with coming months.
import { type SheetView, viewSheet } from '@svc/core/plans/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

const shown = (value: number | null, unit = '') => (value === null ? 'by agreement' : `${value}${unit}`);

/** The sheet, a plan a line, then what changes. */
export function sheetText({ plans, coming }: SheetView): string {
  const lines = plans.map(({ id, monthly_minor, included_micro, grace_days, limits }) => {
    const bounds = Object.entries(limits).map(([name, n]) => `${name} ${n ?? 'none'}`);
    const cost = [shown(monthly_minor, ' cents a month'), `included ${shown(included_micro, ' micro-USD')}`];
    return [id, ...cost, `grace ${grace_days} days`, ...bounds].join('  ');
  });
  const changes = coming.map(({ plan_id, from, ...fee }) => {
    const said = Object.entries(fee).filter(([, value]) => value !== null);
    return [`from ${from}`, plan_id, ...said.map(([name, value]) => `${name} ${value}`)].join('  ');
  });
  return [...lines, ...changes].join('\n');
}

export const command: Command = {
  example: 'svcctl plans show',
  async run() {
    return withDatabase(async (pool) => {
      const sheet = await viewSheet(await staffContext(pool));
      return { json: sheet, text: sheetText(sheet) };
    });
  },
};
