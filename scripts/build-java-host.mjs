// node scripts/build-java-host.mjs DIRECTORY [CLASSPATH RESOLVER_CLASSPATH]
// Compiles java/host with the javac of PATH (17 or newer) and fills DIRECTORY with its jar and the jars of CLASSPATH:
// connect-api, connect-json, connect-transforms and what they depend on. The jar of connect-runtime, which is for plugins
// only, gets a directory of its own, and its dependencies are left out. So do those of RESOLVER_CLASSPATH: Apache Maven
// Resolver, which installs plugins. Without them, all are downloaded, see download-java-libraries.mjs. Equal sources give an
// equal jar, byte by byte.
import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'

const [directory, ...classpaths] = process.argv.slice(2)
if (directory === undefined) {
  console.error('usage: node scripts/build-java-host.mjs DIRECTORY [CLASSPATH RESOLVER_CLASSPATH]')
  process.exit(2)
}
const sources = join(import.meta.dirname, '../java/host/src')
const work = mkdtempSync(join(tmpdir(), 'weir-java-host-'))
try {
  const [libraries, resolver] =
    classpaths.length === 2
      ? classpaths.map((classpath) => classpath.split(delimiter).map((file) => resolve(file)))
      : await downloadLibraries()
  const classpath = [...libraries, ...resolver].join(delimiter)
  const classes = join(work, 'classes')
  const sourceFiles = globSync('**/*.java', { cwd: sources }).sort()
  run(
    'javac',
    [
      // A compilation is too short for the second JIT compiler: half of the CPU time.
      ...['-J-XX:TieredStopAtLevel=1', '-J-XX:+UseSerialGC'],
      // A library was compiled with annotations that it does not need when it runs.
      ...['-Xlint:all,-classfile', '-Werror', '--release', '17', '-encoding', 'UTF-8', '-proc:none'],
      ...['-cp', classpath, '-d', classes, ...sourceFiles],
    ],
    sources,
  )
  const classFiles = globSync('**/*.class', { cwd: classes }).sort()
  const list = join(work, 'files')
  writeFileSync(list, classFiles.map((file) => `-C ${classes} ${file}`).join('\n'))
  mkdirSync(directory, { recursive: true })
  // A fixed date, sorted files and no manifest, which would name the JDK.
  const jar = resolve(directory, 'weir-java-host.jar')
  run('jar', ['--create', '--date=1980-01-01T00:00:02Z', '--no-manifest', `--file=${jar}`, `@${list}`], work)
  for (const part of ['runtime', 'resolver']) mkdirSync(join(directory, part), { recursive: true })
  for (const file of libraries) {
    const name = basename(file)
    copyFileSync(file, join(directory, name.startsWith('connect-runtime-') ? 'runtime' : '.', name))
  }
  for (const file of resolver) copyFileSync(file, join(directory, 'resolver', basename(file)))
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function downloadLibraries() {
  const { downloadJavaLibraries } = await import('./download-java-libraries.mjs')
  return downloadJavaLibraries(join(work, 'libraries'))
}

function run(file, args, cwd) {
  execFileSync(file, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
}
