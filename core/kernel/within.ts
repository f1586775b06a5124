// Waiting with a timeout. A process that was itself too busy to read an answer must not conclude that the other side
// is gone.

/**
 * Resolves with what `asked` resolves to, if it does so within `ms`. An answer that has arrived but was not read yet,
 * because this process was busy, counts as in time: it is read before the turn of the event loop that follows the
 * timer.
 * @throws Error saying that `whom` did not answer in time, or what `asked` rejects with.
 */
export function within<T>(ms: number, asked: Promise<T>, whom: string): Promise<T> {
  return new Promise((done, fail) => {
    const late = () => fail(new Error(`${whom} did not answer within ${ms} ms`));
    const timer = setTimeout(() => setImmediate(late), ms);
    asked.then(
      (answer) => {
        clearTimeout(timer);
        done(answer);
      },
      (error: unknown) => {
        clearTimeout(timer);
        fail(error);
      },
    );
  });
}
