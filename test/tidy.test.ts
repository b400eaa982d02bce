import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, normalize, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONDITION_REASONS } from '../src/common/state-glossary.ts'
import { EXPORTED, REPLACED_FILES, REPLACED_NAMES, unquotedIdentifiers } from './support/source-language.ts'

/** The modules of `src`, and which others each may import. */
const MODULE_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  cli: wordsOf(
    'operator registry worker plugins java dead-letters records compatibility-worker formats clients sdk broker http regex tls config common',
  ),
  operator: wordsOf('console compatibility-worker formats clients http regex config common'),
  registry: wordsOf('console compatibility-worker formats broker clients encryption http tls config common'),
  worker: wordsOf(
    'console plugins java dead-letters records sdk java-compat broker clients http regex tls config common',
  ),
  plugins: wordsOf('sdk java-compat serde formats clients regex config common'),
  java: wordsOf('sdk java-compat formats common'),
  'java-compat': wordsOf('sdk formats regex tls common'),
  serde: wordsOf('formats clients encryption common'),
  console: wordsOf('http config common'),
  'dead-letters': wordsOf('broker common'),
  records: wordsOf('serde formats broker clients common'),
  'compatibility-worker': wordsOf('formats common'),
  clients: ['common'],
  encryption: ['common'],
  broker: ['tls', 'config', 'common'],
  http: wordsOf('regex tls config common'),
  formats: ['regex', 'common'],
  sdk: ['common'],
  regex: [],
  tls: ['config', 'common'],
  config: ['common'],
  common: [],
}

/** What connectors may import besides libraries and each other, like those of third parties; plus the version, and small tools. */
const CONNECTOR_IMPORTS =
  /^src\/(?:sdk\/index|java-compat\/.+|plugins\/connectors\/.+|plugins\/shipped-version|common\/(?:binary-(?:reader|writer)|truncate-text|async-queue|json-structure))\.ts$/

/** The files of a program that `cli` may import: its start, its settings, its CRDs and roles, and what needs no server. */
const PROGRAMS = ['operator', 'registry', 'worker']
const ENTRIES = wordsOf('main.ts settings.ts crd-files.ts stored-objects.ts rbac.ts simulation.ts config-validator.ts')

/** Libraries that only the named files may import, so that they can be replaced there. */
const LIBRARY_USERS: Readonly<Record<string, RegExp>> = {
  kafkajs: /^src\/broker\/kafka\/kafkajs-login\.ts$/,
  pg: /^src\/plugins\/connectors\/postgres\/session\.ts$/,
  mysql2: /^src\/plugins\/connectors\/mysql\/(session|client-options)\.ts$/,
  fastify: /^src\/(http|(registry|worker|operator|console)\/routes)\//,
  undici: /^src\/(common\/http-agent|plugins\/connectors\/http\/transport)\.ts$/,
  '@kubernetes/client-node': /^src\/clients\/kubernetes\//,
}

const LINES_MAX = 400
const root = join(import.meta.dirname, '..')
const files = (...patterns: string[]) => globSync(patterns, { cwd: root }).map((file) => file.split(sep).join('/'))
const textOf = memoized((file) => readFileSync(join(root, file), 'utf8'))
const exists = (path: string) => (/[*{]/.test(path) ? files(path).length > 0 : existsSync(join(root, path)))
/** Everything that a file imports, types included; files of this project by their path from the root. */
const importsOf = memoized((file): readonly string[] => {
  const named = [...textOf(file).matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => specifier!)
  return named.map((specifier) =>
    specifier.startsWith('.')
      ? relative(root, join(root, file, '..', specifier))
          .split(sep)
          .join('/')
      : specifier,
  )
})

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = memoized((page): readonly string[] => {
  const headings = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) => title!)
  return headings.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
})
/** The names of a file's tests with their top-level suite. `%s`, which stands for a value of a table, is shown as `…`. */
const testNames = memoized((file): readonly string[] => {
  let suite = ''
  return textOf(file)
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('}')) suite = ''
      const described = /^describe\w*\((?:\[.*?\], )?(['"`])(.+)\1, /.exec(line)
      if (described !== null) suite = `${described[2]}: `
      const title = /(?:^\s*|\()(['"`])(.+)\1,/.exec(line)?.[2]
      return title === undefined ? [] : [suite + title.replaceAll('%s', '…')]
    })
})

describe('modules', () => {
  const imports = files('src/**/*.ts').flatMap((file) => importsOf(file).map((target) => ({ file, target })))

  it('are those of the table', () => {
    const modules = new Set(files('src/**/*.ts').map((file) => file.split('/')[1]!))
    expect([...modules].filter((module) => MODULE_IMPORTS[module] === undefined)).toEqual([])
  })

  it('import only the modules that the table allows', () => {
    const wrong = imports.filter(({ file, target }) => {
      const [from, to] = [moduleOf(file), moduleOf(target)]
      return to !== undefined && to !== from && !MODULE_IMPORTS[from!]?.includes(to)
    })
    expect(wrong).toEqual([])
  })

  it('of connectors import the SDK and the Java compatibility module only', () => {
    const wrong = imports.filter(
      ({ file, target }) =>
        file.startsWith('src/plugins/connectors/') && target.startsWith('src/') && !CONNECTOR_IMPORTS.test(target),
    )
    expect(wrong).toEqual([])
  })

  it('of programs are imported by the CLI through their entry files only', () => {
    const wrong = imports.filter(({ file, target }) => {
      const [, module, ...path] = target.split('/')
      const isProgramImport = file.startsWith('src/cli/') && target.startsWith('src/') && PROGRAMS.includes(module!)
      return isProgramImport && !ENTRIES.includes(path.join('/'))
    })
    expect(wrong).toEqual([])
  })

  it('import a restricted library only in the files that may use it', () => {
    const wrong = imports.filter(
      ({ file, target }) => LIBRARY_USERS[target] !== undefined && !LIBRARY_USERS[target].test(file),
    )
    expect(wrong).toEqual([])
  })

  it('have no index.ts except the SDK', () => {
    expect(files('src/**/index.ts')).toEqual(['src/sdk/index.ts'])
  })
})

describe('regular expressions', () => {
  const sources = files('src/**/*.ts').filter((file) => !file.startsWith('src/regex/'))
  const calls = (pattern: RegExp) =>
    sources.flatMap((file) => [...textOf(file).matchAll(pattern)].map(([call]) => `${file}: ${call}`))

  it('are created from strings in src/regex only, which matches them in linear time', () => {
    expect(calls(/\bRegExp\b\s*\(|\bnew RegExp\b|[\w)\]]\.constructor\(|\brequire\w*\('re2js'\)/g)).toEqual([])
  })

  it('are literals or constants of the file in calls of match and search', () => {
    // `match` and `search` convert a string to an expression; `matchAll` does not accept a string in TypeScript.
    const isExpression = (file: string, argument: string) =>
      argument.startsWith('/') || new RegExp(`(?:const|let) ${argument}\\b(?:: RegExp)? =\\s*/`).test(textOf(file))
    const wrong = sources.flatMap((file) =>
      [...textOf(file).matchAll(/\.(?:match|search)\(\s*([^\s),]+)/g)]
        .filter(([, argument = '']) => !isExpression(file, argument))
        .map(([call]) => `${file}: ${call}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('subject names', () => {
  it('are split into context and name in one module', () => {
    const wrong = files('src/**/*.ts').filter((file) => textOf(file).includes(String.raw`:(\.[^:]`))
    expect(wrong).toEqual(['src/formats/qualified-subject.ts'])
  })
})

describe('members whose names come from data', () => {
  it('are set by defineMember, because an assignment to __proto__ sets no member', () => {
    const sources = files('src/{formats,serde,java,java-compat,sdk,plugins,worker}/**/*.ts')
    const assignments = sources
      .filter((file) => file !== 'src/formats/define-member.ts')
      .flatMap((file) =>
        [...textOf(file).matchAll(/\w\[(?:name|key|\w+\.(?:name|localName))\] = /g)].map(
          ([found]) => `${file}: ${found}`,
        ),
      )
    expect(assignments).toEqual([])
  })
})

describe('files', () => {
  it(`are at most ${LINES_MAX} lines long`, () => {
    const long = files('src/**/*.ts', 'test/**/*.ts', 'scripts/**/*.{mjs,ts}')
      .map((file) => ({ file, lines: textOf(file).split('\n').length - 1 }))
      .filter(({ lines }) => lines > LINES_MAX)
    expect(long).toEqual([])
  })

  it('contain no paths of the machine on which they were written', () => {
    const machinePath = /(?<![\w.-])\/(?:work|root|home)\/[\w.-]/
    const all = files(
      '*.{md,json,ts}',
      '.ci/*',
      '.github/**/*.{yml,md}',
      '{src,test,scripts,docs,examples,charts,crds}/**/*.{ts,mjs,md,json,yaml}',
    )
    expect(all.filter((file) => machinePath.test(textOf(file)))).toEqual([])
  })

  it('start Weir with the same Node.js flags everywhere', () => {
    const [, flags = ''] = /^#!.* node (.+)$/m.exec(textOf('src/cli/weir.ts')) ?? []
    expect(flags).toMatch(/^--\S/)
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    const starting = Object.values(scripts).filter((script) => script.includes('src/cli/weir.ts'))
    // Without exec, a shell between npm and the program ends at SIGTERM and leaves the program running.
    expect(starting.filter((script) => !script.startsWith(`exec node ${flags} src/cli/weir.ts`))).toEqual([])
    const words = ['node', ...flags.split(' '), '/weir/dist/cli/weir.js'].map((word) => `"${word}"`)
    expect(textOf('Dockerfile')).toContain(`ENTRYPOINT [${words.join(', ')}]`)
  })

  it('lock dependencies without download addresses', () => {
    expect(textOf('package-lock.json')).not.toContain('"resolved"')
  })

  it('lock the optional packages of every platform, without which npm ci fails', () => {
    type Package = { readonly optionalDependencies?: Record<string, string> }
    const { packages } = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Package> }
    const optional = Object.values(packages).flatMap((locked) => Object.keys(locked.optionalDependencies ?? {}))
    expect(optional.filter((name) => packages[`node_modules/${name}`] === undefined)).toEqual([])
  })
})

describe('documents', () => {
  const pages = files('*.md', 'docs/**/*.md')

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    const unknown = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(start|test))\b/g)]
        .map(([, run, short]) => run ?? short!)
        .filter((script) => scripts[script] === undefined)
        .map((script) => ({ page, script })),
    )
    expect(unknown).toEqual([])
  })

  it('link only to files that exist', () => {
    const broken = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)]
        .map(([, target]) => normalize(join(page, '..', target!)))
        .filter((target) => !exists(target))
        .map((target) => ({ page, target })),
    )
    expect(broken).toEqual([])
  })

  it('link only to headings that exist', () => {
    const broken = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\(([^)#\s:]*\.md)?#([^)\s]+)\)/g)]
        .map(([, target, anchor]) => ({
          target: target === undefined ? page : normalize(join(page, '..', target)),
          anchor,
        }))
        .filter(({ target, anchor }) => exists(target) && !anchorsOf(target).includes(anchor!))
        .map(({ target, anchor }) => ({ page, target, anchor })),
    )
    expect(broken).toEqual([])
  })
})

/** Calls `read` once for each file. */
function memoized<Result>(read: (file: string) => Result): (file: string) => Result {
  const known = new Map<string, Result>()
  return (file) => {
    const result = known.get(file) ?? read(file)
    known.set(file, result)
    return result
  }
}

function wordsOf(line: string): readonly string[] {
  return line.split(' ')
}

function moduleOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

describe('docs/secure.md', () => {
  const page = textOf('docs/secure.md')
  const guarantees = page
    .split('\n\n')
    .filter((block) => block.startsWith('| guarantee | test |'))
    .flatMap((table) => table.trimEnd().split('\n').slice(2))

  it('names a test for each guarantee', () => {
    expect(guarantees.filter((row) => !/\]\(\.\.\/test\/[^)]+\.test\.ts\)/.test(row))).toEqual([])
  })

  it('names tests that exist, as "suite: title"', () => {
    const named = [...page.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+\.test\.ts)\)/g)]
    const unknown = named.filter(([, name, file]) => !testNames(file!).includes(name!))
    expect(unknown.map(([link]) => link)).toEqual([])
  })
})

describe('docs/architecture.md', () => {
  const page = textOf('docs/architecture.md')

  it('names every module and the folders of the programs', () => {
    const modules = Object.keys(MODULE_IMPORTS).map((module) => `src/${module}/`)
    const folders = files(`src/{${PROGRAMS.join(',')}}/*/*.ts`).map(
      (file) => `${file.split('/').slice(0, 3).join('/')}/`,
    )
    expect([...new Set([...modules, ...folders])].filter((module) => !page.includes(`\`${module}\``))).toEqual([])
  })

  it('shows no import in its diagram that the table forbids', () => {
    const edges = [...page.matchAll(/^ {2}(\w+) --> (.+)$/gm)].flatMap(([, from, to]) =>
      to!.split(' & ').map((target) => ({ from: from!, target })),
    )
    expect(edges.length).toBeGreaterThan(20)
    expect(edges.filter(({ from, target }) => !MODULE_IMPORTS[from]?.includes(target))).toEqual([])
  })

  it('names only files that exist', () => {
    const paths = [...page.matchAll(/`((?:src|test|docs|charts|crds|rbac)\/[^`\s]*)`/g)].map(([, path]) => path!)
    expect(paths.length).toBeGreaterThan(80)
    expect(paths.filter((path) => !exists(path))).toEqual([])
  })
})

describe('docs/errors.md', () => {
  const page = textOf('docs/errors.md')
  const sets = files(
    'src/{broker,serde,encryption,registry/model,worker/model}/*-error.ts',
    'src/java/maven/install-error.ts',
  ).flatMap((file) => [...textOf(file).matchAll(/^ {2}\| '([a-z_]+)'$/gm)].map(([, code]) => code!))
  const single = files('src/**/*.ts').flatMap((file) =>
    [...textOf(file).matchAll(/UserError(?:<|\()\s*'([a-z_]+)'/g)].map(([, code]) => code!),
  )

  it('describes every error code', () => {
    expect(sets.length).toBeGreaterThan(80)
    expect([...new Set([...sets, ...single])].filter((code) => !page.includes(`\`${code}\``))).toEqual([])
  })

  it('describes no error code that does not exist', () => {
    const named = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code]) => code!)
    expect(named.filter((code) => !sets.includes(code) && !single.includes(code))).toEqual([])
  })
})

describe('docs/operator.md', () => {
  it('describes every condition reason and no others', () => {
    const rows = [...textOf('docs/operator.md').matchAll(/^\| (`[A-Z]\w+`(?:, `\w+`)*) \|/gm)]
    const described = rows.flatMap(([, names]) => [...names!.matchAll(/\w+/g)].map(([name]) => name))
    expect(described.toSorted()).toEqual(Object.keys(CONDITION_REASONS).toSorted())
  })
})

describe('the language of the source', () => {
  const sources = files('src/**/*.ts')
  const exported = sources.flatMap((file) =>
    [...textOf(file).matchAll(EXPORTED)].map(([, name]) => ({ file, name: name! })),
  )

  it('exports no name from several modules', () => {
    const shared = [...Map.groupBy(exported, ({ name }) => name)].filter(
      ([, found]) => new Set(found.map(({ file }) => file)).size > 1,
    )
    expect(shared.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`)).toEqual([])
  })

  it('has no circular imports', () => {
    const targets = new Map(
      sources.map((file) => [file, importsOf(file).filter((target) => target.startsWith('src/'))]),
    )
    const reachable = (from: string) => {
      const seen = new Set<string>()
      for (const open = [...(targets.get(from) ?? [])]; open.length > 0; ) {
        const next = open.pop()!
        if (seen.has(next)) continue
        seen.add(next)
        open.push(...(targets.get(next) ?? []))
      }
      return seen
    }
    expect(sources.filter((file) => reachable(file).has(file))).toEqual([])
  })

  it('uses no replaced name', () => {
    const names = exported.filter(({ name }) => REPLACED_NAMES.has(name)).map(({ file, name }) => `${file}: ${name}`)
    const paths = sources.filter((file) => file.split('/').some((part) => REPLACED_FILES.has(part)))
    expect([...names, ...paths]).toEqual([])
  })

  it('writes identifiers in comments in backticks, so that a rename of a variable does not change a sentence', () => {
    expect(
      unquotedIdentifiers(
        "/** Runs `act`, otherwise defaultPrefix runs. */\nf() // as preStop, the user's badName isn't",
      ),
    ).toEqual(['defaultPrefix', 'badName'])
    const wrong = sources.flatMap((file) => unquotedIdentifiers(textOf(file)).map((word) => `${file}: ${word}`))
    expect(wrong).toEqual([])
  })
})
