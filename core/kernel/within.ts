// Waiting with an end: a process that was busy itself must not take that for another that is lost.

/**
 * What `asked` resolves to, if it does so within `ms`. An answer that lies in the socket because this process was busy
 * has come in time: it is read before the turn of the event loop that follows the timer.
 * @throws Error that `whom` did not answer in time, or what `asked` rejects with.
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
