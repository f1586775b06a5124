// The person of an address whom a provider or a directory of an organization brings: nobody gave them a password.
import type { Context } from '../kernel/index.ts';
import { noPassword } from './sign-in/password.ts';
import { findPersonByEmail, insertPerson, lockPerson } from './store.ts';
import type { Person } from './types.ts';

/** `known`, or the person of the address, made where there is none; locked either way. */
export async function takePerson(
  context: Context,
  known: Person | null,
  { email, email_key, name }: { email: string; email_key: string; name: string },
): Promise<Person> {
  const at = context.now();
  if (known === null) {
    const password_hash = await noPassword();
    await insertPerson(context.db, {
      id: context.newId('user'),
      email,
      email_key,
      name,
      password_hash,
      at,
      is_admitted: true,
    });
  }
  const person = known ?? (await findPersonByEmail(context.db, email_key));
  const locked = person === null ? null : await lockPerson(context.db, person.id);
  if (locked === null) throw new Error('a person is neither new nor there');
  return locked;
}
