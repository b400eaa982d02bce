import type { Found } from './part.ts'
import { run } from './process.ts'

/** A compilation is too short for the second JIT compiler: these options halve its CPU time. */
const SHORT_LIVED = ['-J-XX:TieredStopAtLevel=1', '-J-XX:+UseSerialGC']

/** Why there is no Java compiler, undefined if there is one. */
export async function missingJavac(): Promise<Found | undefined> {
  const compiles = await run({ file: 'javac', args: ['-version'], directory: '.' }).catch(() => undefined)
  return compiles?.code === 0 ? undefined : { how: 'missing', detail: 'there is no javac on PATH' }
}

/** Compiles source files to class files in `directory`, which is created. Rejects with the compiler's messages. */
export async function compileJava(
  sources: readonly string[],
  { classpath, directory, options = [] }: { classpath?: string; directory: string; options?: readonly string[] },
): Promise<void> {
  const args = [
    ...SHORT_LIVED,
    ...options,
    ...(classpath === undefined ? [] : ['-cp', classpath]),
    ...['-d', directory],
    ...sources,
  ]
  const { code, stdout, stderr } = await run({ file: 'javac', args, directory: '.' })
  if (code !== 0) throw new Error(`javac failed:\n${stdout}${stderr}`)
}
