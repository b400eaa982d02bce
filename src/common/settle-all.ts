/** Waits for all jobs, then rejects with the first failure. */
export async function settleAll(jobs: readonly (Promise<void> | void)[]): Promise<void> {
  const failed = (await Promise.allSettled(jobs)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
