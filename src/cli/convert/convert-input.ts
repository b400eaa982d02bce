import { isUtf8 } from 'node:buffer'
import { messageOf } from '../../common/errors.ts'
import { API_GROUP, DEPRECATED_API_VERSIONS } from '../../common/resource-api.ts'
import { type BuildOptions, type BuiltManifests, buildManifests } from './build-manifests.ts'
import { readerOfNeighbors, type Source } from './conversion-context.ts'
import { type ConversionFinding, ConversionReport } from './conversion-report.ts'
import { convertObjects } from './convert-objects.ts'
import { readHclDocument } from './hcl-document.ts'
import { type ConversionFile, type ConversionInput, decodeUtf8, STDIN } from './input-files.ts'
import { readPropertiesDocument } from './properties-document.ts'
import { type RewrittenFile, rewriteManifests } from './rewrite-manifests.ts'
import { readYamlDocuments, type SourceDocument, type SourceError } from './source-document.ts'
import { convertTerraform, terraformDocumentOf } from './terraform-resources.ts'

const NOT_UTF8 = 'is not encoded in UTF-8'

export type ConversionOptions = BuildOptions & { readonly from: Source | undefined }
export type Conversion = BuiltManifests & {
  /** Files with manifests of Weir. */
  readonly rewritten: readonly RewrittenFile[]
  readonly findings: readonly ConversionFinding[]
}

/** Converts the resources of all files. Depends on the input only. */
export function convertInput({ files, errors }: ConversionInput, options: ConversionOptions): Conversion {
  const report = new ConversionReport()
  for (const { file, message } of errors) report.addError({ file, line: 1, message })
  const contents = files.map((input) => readDocuments(input, options.from))
  for (const error of contents.flatMap(({ errors: unreadable }) => unreadable)) report.addError(error)
  const context = {
    report,
    from: options.from,
    readFile: readerOfNeighbors(files),
    isWorkerNamed: options.workerRef !== undefined,
    isRegistryNamed: options.registryRef !== undefined,
  }
  const objects = contents.flatMap(({ documents }) => documents)
  const terraform = contents.flatMap((content) => content.terraform)
  const drafts = [
    ...convertObjects(objects, context),
    ...terraform.flatMap((document) => convertTerraform(document, context)),
  ]
  const built = buildManifests(drafts, options, report)
  const rewritten = contents.flatMap((content) => content.rewritten ?? [])
  return { ...built, rewritten, findings: report.findings() }
}

/** Replaces the API version in the files that have an older one. Other files are not examined. */
export function rewriteInput({ files, errors }: ConversionInput): Pick<Conversion, 'rewritten' | 'findings'> {
  const report = new ConversionReport()
  for (const { file, message } of errors) report.addError({ file, line: 1, message })
  const rewritten = files.flatMap(({ file, bytes }) => {
    if (!DEPRECATED_API_VERSIONS.some((apiVersion) => bytes.includes(apiVersion))) return []
    if (!isUtf8(bytes)) {
      report.addError({ file, line: 1, message: NOT_UTF8 })
      return []
    }
    const text = bytes.toString()
    const own = rewriteManifests(text, file)
    for (const error of (own ?? readYamlDocuments(text, file)).errors) report.addError(error)
    return own === undefined || own.rewritten.count === 0 ? [] : [own.rewritten]
  })
  return { rewritten, findings: report.findings() }
}

type InputContent = {
  readonly documents: readonly SourceDocument[]
  readonly terraform: readonly SourceDocument[]
  readonly errors: readonly SourceError[]
  readonly rewritten?: RewrittenFile
}

function readDocuments({ file, bytes }: ConversionFile, from: Source | undefined): InputContent {
  if (isProperties(file, bytes, from)) {
    try {
      return { documents: [readPropertiesDocument(bytes, file)], terraform: [], errors: [] }
    } catch (error) {
      return { documents: [], terraform: [], errors: [{ file, line: 1, message: messageOf(error) }] }
    }
  }
  const text = decodeUtf8(bytes)
  if (text === undefined) {
    return { documents: [], terraform: [], errors: [{ file, line: 1, message: NOT_UTF8 }] }
  }
  if (isHcl(file, text, from)) {
    const { documents, errors } = readHclDocument(text, file)
    return { documents: [], terraform: documents, errors }
  }
  const own = from === undefined || from === 'weir' ? rewriteManifests(text, file) : undefined
  if (own !== undefined) {
    const { rewritten, errors } = own
    return { documents: [], terraform: [], rewritten, errors: [...errors, ...otherResources(text, file)] }
  }
  const { documents, errors } = readYamlDocuments(text, file)
  const terraform = documents.flatMap((document) => terraformDocumentOf(document) ?? [])
  return { documents: documents.filter((document) => terraformDocumentOf(document) === undefined), terraform, errors }
}

/** What a file with manifests of Weir contains besides them and the objects that they may refer to. */
function otherResources(text: string, file: string): readonly SourceError[] {
  return readYamlDocuments(text, file).documents.flatMap(({ value, lineOf }) => {
    const { apiVersion } = value as { readonly apiVersion?: unknown }
    if (apiVersion === 'v1' || String(apiVersion).startsWith(`${API_GROUP}/`)) return []
    const message = 'is not converted, because the file has manifests of Weir: move it to a file of its own'
    return [{ file, line: lineOf([]), message }]
  })
}

/** Standard input has no name: with `--from connect`, it is JSON or properties. */
function isProperties(file: string, bytes: Buffer, from: Source | undefined): boolean {
  if (/\.properties$/i.test(file)) return true
  return from === 'connect' && file === STDIN && !/^(?:\xef\xbb\xbf)?\s*[[{]/.test(bytes.toString('latin1', 0, 1024))
}

/** Standard input has no name: with `--from terraform`, it is JSON or HashiCorp's configuration language. */
function isHcl(file: string, text: string, from: Source | undefined): boolean {
  return /\.tf$/i.test(file) || (from === 'terraform' && file === STDIN && !/^\s*\{/.test(text))
}
