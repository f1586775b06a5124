// What was given: the check-in of the day, codes to redeem, and gifts to others.
import { may, useOrg } from '../../../app/org.tsx';
import { CheckinCard } from './checkin-card.tsx';
import { GiftsCard } from './gifts-card.tsx';
import { RedeemCard } from './redeem-card.tsx';

/** `onChanged`: the balance is another one. */
export function GivenView({ onChanged }: { onChanged: () => void }) {
  const { role } = useOrg();
  return (
    <>
      <CheckinCard onChanged={onChanged} />
      {may(role, 'money') && <RedeemCard onChanged={onChanged} />}
      <GiftsCard onChanged={onChanged} />
    </>
  );
}
