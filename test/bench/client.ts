import { run } from '../env/process.ts'

/** Runs a script in a new process. Its argument is the task and its output the result, both as JSON. */
export async function runClient<Task, Result>(script: string, task: Task): Promise<Result> {
  const args = [script, JSON.stringify(task)]
  const { code, stdout, stderr } = await run({ file: process.execPath, args, directory: '.' })
  if (code !== 0) throw new Error(`${script} failed:\n${stderr}`)
  return JSON.parse(stdout) as Result
}
