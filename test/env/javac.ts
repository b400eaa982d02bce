import { SHORT_LIVED } from './java.ts'
import type { Found } from './part.ts'
import { run } from './process.ts'

/** The options of short runs halve the CPU time of a compilation. */
const JVM = SHORT_LIVED.map((option) => `-J${option}`)

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
    ...JVM,
    ...options,
    ...(classpath === undefined ? [] : ['-cp', classpath]),
    ...['-d', directory],
    ...sources,
  ]
  const { code, stdout, stderr } = await run({ file: 'javac', args, directory: '.' })
  if (code !== 0) throw new Error(`javac failed:\n${stdout}${stderr}`)
}
