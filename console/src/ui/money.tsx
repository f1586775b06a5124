// One way to show micro-USD. The exact figure is one hover away wherever the shown one is rounded.
import { balanceText, exactText, moneyParts, spendText } from './format/money.ts';

export type Micro = string | number | bigint;

/**
 * `exact` for rows and evidence, `balance` for what is left (rounded down), `spend` for tiles and charts.
 * Unknown (null) is a dash, never 0.
 */
export function Money(props: {
  micro: Micro | null | undefined;
  as?: 'exact' | 'balance' | 'spend';
  /** Shows a plus before credits: ledger rows. */
  signed?: boolean;
}) {
  const { micro, as = 'exact', signed = false } = props;
  if (micro === null || micro === undefined) return <span className="faint">–</span>;
  const title = `${exactText(micro)} · ${micro} µUSD`;
  if (as !== 'exact') {
    return (
      <span className="money" title={title}>
        {as === 'balance' ? balanceText(micro) : spendText(micro)}
      </span>
    );
  }
  if (BigInt(micro) === 0n) {
    return (
      <span className="money faint" title={title}>
        $0
      </span>
    );
  }
  const parts = moneyParts(micro);
  return (
    <span className="money" title={title}>
      {parts.sign === '' && signed ? '+' : parts.sign}${parts.dollars}.{parts.micro.slice(0, 2)}
      <span className="micro">{parts.micro.slice(2)}</span>
    </span>
  );
}
