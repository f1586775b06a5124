// The daily check-in, where the installation offers it.
import { useQuery } from 'urql';
import { CheckInDocument, CheckinDocument } from '../../../api/gen/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Money } from '../../../ui/money.tsx';
import { FormFault } from '../../../ui/states.tsx';
import { checkinText, streakText } from './words.ts';

export function CheckinCard({ onChanged }: { onChanged: () => void }) {
  const [{ data }, again] = useQuery({ query: CheckinDocument, requestPolicy: 'cache-and-network' });
  const { busy, fault, sendOnce } = useSend();
  const checkin = data?.credits?.checkin;
  if (!checkin?.enabled) return null;
  const press = async () => {
    const made = await sendOnce(CheckInDocument, {});
    again({ requestPolicy: 'network-only' });
    if (made !== null) onChanged();
  };
  return (
    <section className="card" aria-label="Check-in">
      <div className="note">
        <span className="grow">
          {checkin.doneToday ? (
            'Checked in today.'
          ) : (
            <>
              <Money micro={checkin.amountMicroUsd} as="balance" /> today.
            </>
          )}{' '}
          <span className="sub">
            {checkinText(checkin)} {streakText(checkin.streakDays)}
          </span>
        </span>
        <Button kind="primary" busy={busy} disabled={checkin.doneToday} onClick={() => void press()}>
          Check in
        </Button>
      </div>
      <FormFault fault={fault} />
    </section>
  );
}
