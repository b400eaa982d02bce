/** CPU time of this thread that `work` needs. Unlike its duration, it does not depend on what else the machine does. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
