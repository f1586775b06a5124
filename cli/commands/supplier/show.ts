// Shows who sells, as the next documents show it, and the rates of tax.
import { listGstRates, readGstRate, readSupplier, type Supplier } from '@svc/core/invoices/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

/** A supplier, one fact a line. */
export function supplierText(supplier: Supplier): string {
  const { legal_name, address, state_code, gstin, pan, lut, series, sac, e_invoicing } = supplier;
  const facts = { name: legal_name, address: address.join('; '), state: state_code, gstin, pan, lut };
  return Object.entries({ ...facts, prefix: series, sac, 'e-invoicing': e_invoicing === true ? 'on' : 'off' })
    .map(([name, value]) => `${name.padEnd(11)}  ${value ?? 'none'}`)
    .join('\n');
}

export const command: Command = {
  example: 'svcctl supplier show',
  async run() {
    return withDatabase(async (pool) => {
      const { supplier, is_demo } = await readSupplier(pool);
      const { now } = await staffContext(pool);
      const [rate_bps, rates] = [await readGstRate(pool, now()), await listGstRates(pool)];
      const lines = rates.map((rate) => `gst from ${rate.from_day}  ${rate.rate_bps / 100} %`);
      const demo = is_demo ? ['the demo supplier: a live rail does not sell in its name'] : [];
      return {
        json: { supplier, is_demo, gst_rate_bps: rate_bps, gst_rates: rates },
        text: [supplierText(supplier), `gst today  ${rate_bps / 100} %`, ...lines, ...demo].join('\n'),
      };
    });
  },
};
