import { run } from '../env/process.ts'
import type { Settings } from './settings.ts'

/** Runs a client of the bench in a process of its own: a script that takes its task and prints its result, both as JSON. */
export async function runClient<Task, Result>(settings: Settings, script: string, task: Task): Promise<Result> {
  const args = [...settings.nodeArgs, script, JSON.stringify(task)]
  const { code, stdout, stderr } = await run({ file: process.execPath, args, directory: '.' })
  if (code !== 0) throw new Error(`${script} failed:\n${stderr}`)
  return JSON.parse(stdout) as Result
}
