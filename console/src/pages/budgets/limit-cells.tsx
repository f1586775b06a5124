// The cells of a row of limits: what holds, and what is left of it now.
import { countText } from '../../ui/format/numbers.ts';
import { holds } from './limits.ts';

interface Bounds {
  readonly rpm?: number | null;
  readonly tpm?: number | null;
  readonly concurrency?: number | null;
}

interface Live {
  readonly rpmRemaining?: number | null;
  readonly tpmRemaining?: number | null;
  readonly concurrencyInUse: number;
}

/** Columns beside the name; the last is that of the buttons. */
export const limitColumns = [
  { name: 'Calls a minute', className: 'n' },
  { name: 'Tokens a minute', className: 'n' },
  { name: 'At once', className: 'n' },
  { name: 'Actions', hidden: true },
];

function Cell(props: { label: string; holds: number | null; left: string }) {
  return (
    <td className="n" data-label={props.label}>
      {props.holds === null ? <span className="faint">no limit</span> : countText(props.holds)}
      <div className="sub">{props.left}</div>
    </td>
  );
}

function leftText(left: number | null | undefined): string {
  return left === null || left === undefined ? '' : `${countText(left)} left`;
}

/** `bounds`: all that hold, of which the smallest counts; `live` null: what is left is not known. */
export function LimitCells(props: { bounds: readonly (Bounds | null | undefined)[]; live: Live | null }) {
  const { bounds, live } = props;
  const holding = (name: keyof Bounds) => holds(...bounds.map((one) => one?.[name]));
  const running = live?.concurrencyInUse ?? 0;
  return (
    <>
      <Cell label="Calls a minute" holds={holding('rpm')} left={leftText(live?.rpmRemaining)} />
      <Cell label="Tokens a minute" holds={holding('tpm')} left={leftText(live?.tpmRemaining)} />
      <Cell
        label="At once"
        holds={holding('concurrency')}
        left={running === 0 ? '' : `${countText(running)} running`}
      />
    </>
  );
}
