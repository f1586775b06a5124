import { Empty } from '../../../ui/states.tsx';

/** A part that the roles of who is signed in do not show. */
export function NotYours({ what }: { what: string }) {
  return <Empty title="Not for your roles">{what} of customers are read by finance and support.</Empty>;
}
