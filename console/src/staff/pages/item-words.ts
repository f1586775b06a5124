// What the kinds of staff items mean, and what a person does about them. Pure.

interface Words {
  readonly title: string;
  readonly why: string;
  readonly todo: string;
}

const words: Readonly<Record<string, Words>> = {
  amount_mismatch: {
    title: 'Paid another amount',
    why: 'The payment of a top-up has another amount or currency than the top-up. It is in review, and nothing was booked.',
    todo: 'Compare both in the dashboard of the rail, then book or refuse the top-up.',
  },
  second_payment: {
    title: 'Paid twice',
    why: 'A top-up that was paid already was paid again. The second payment is given back by itself.',
    todo: 'See in the dashboard of the rail that it was given back, then resolve.',
  },
  unknown_topup: {
    title: 'Payment of no top-up',
    why: 'A callback of a rail names no top-up of ours. Nothing was booked.',
    todo: 'Find the payment in the dashboard of the rail: give it back there when it is nobody’s.',
  },
  names_disagree: {
    title: 'Callback names two top-ups',
    why: 'Order, payment and metadata of a callback do not lead to one top-up of this rail. Nothing was booked.',
    todo: 'Find out in the dashboard of the rail which top-up was paid.',
  },
  unreadable_event: {
    title: 'Callback that cannot be read',
    why: 'A signed callback of a rail lacks what its kind must have. Nothing was booked.',
    todo: 'Look at the event in the dashboard of the rail; tell who runs the service when more of them come.',
  },
  reconciliation_variance: {
    title: 'Ledger and calls differ',
    why: 'What a day’s calls cost by their rows is not what the ledger charged. It ends by itself when the two agree again.',
    todo: 'Wait a day for late settles; what is left then is a fault: tell who runs the service.',
  },
};

/** What an item is, why it is there, and what to do; of a kind that has no words here, the kind. */
export function wordsOf(kind: string): Words {
  const title = kind.replaceAll('_', ' ');
  return (
    words[kind] ?? {
      title: title.charAt(0).toUpperCase() + title.slice(1),
      why: 'The service could not end this by itself.',
      todo: 'The details say what it is about.',
    }
  );
}

/** "3 hours", "2 days": how long something has waited. */
export function ageOf(since: string, now: Date): string {
  const minutes = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / 60_000));
  const of = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
  if (minutes < 60) return of(minutes, 'minute');
  if (minutes < 48 * 60) return of(Math.floor(minutes / 60), 'hour');
  return of(Math.floor(minutes / (24 * 60)), 'day');
}
