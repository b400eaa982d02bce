import { parse } from 'yaml'
import { formatConversionFinding } from '../../src/cli/convert/conversion-report.ts'
import { type ConversionOptions, convertInput } from '../../src/cli/convert/convert-input.ts'
import { manifestText } from '../../src/cli/manifests/write-manifests.ts'
import { isSecretKey } from '../../src/common/secrets/secret-keys.ts'
import { parseResource } from '../../src/operator/main.ts'

/** The result of a conversion, with the manifests as a reader of the written files sees them. */
export type ConvertedTexts = {
  readonly manifests: readonly Record<string, unknown>[]
  /** `spec` of the first manifest. */
  readonly spec: Record<string, unknown>
  readonly findings: readonly string[]
  readonly secrets: ReturnType<typeof convertInput>['secrets']
  /** Everything that is written or printed. */
  readonly text: string
}

/** Converts texts by file name. Fails if a written manifest is not one that the operator accepts. */
export function convertTexts(
  texts: Readonly<Record<string, string | Buffer>>,
  options: Partial<ConversionOptions> & { readonly root?: string } = {},
): ConvertedTexts {
  const { root, ...others } = options
  const files = Object.entries(texts).map(([file, text]) => ({ file, bytes: Buffer.from(text), folder: root, root }))
  const { manifests, secrets, findings } = convertInput(
    { files, errors: [] },
    { from: undefined, secretKeysOf: () => isSecretKey, ...others },
  )
  const written = manifests.map(manifestText)
  const read = written.map((text) => parse(text) as Record<string, unknown>)
  for (const manifest of read) {
    const { errors } = parseResource(manifest)
    if (errors.length > 0) throw new Error(`a converted manifest is invalid: ${errors[0]?.message}`)
  }
  const lines = findings.map(formatConversionFinding)
  const spec = (read[0]?.['spec'] ?? {}) as Record<string, unknown>
  return {
    manifests: read,
    spec,
    findings: lines,
    secrets,
    text: [...written, ...lines, JSON.stringify(secrets)].join('\n'),
  }
}
