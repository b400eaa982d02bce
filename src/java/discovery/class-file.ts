/** The header of a Java class file. Names have dots, as in `java.util.Map`. */
export type ClassFile = {
  readonly name: string
  /** The class that it extends and the interfaces that it implements. */
  readonly parents: readonly string[]
  /** Whether other classes can create it: public, not abstract, with a public constructor without parameters. */
  readonly isCreatable: boolean
  /** The Java version that it was compiled for. */
  readonly javaVersion: number
}

const MAGIC = 0xcafebabe
/** The major version of class files of Java 1; each Java version added one. */
const MAJOR_OF_JAVA_0 = 44
const PUBLIC = 0x0001
const INTERFACE = 0x0200
const ABSTRACT = 0x0400

/** Number of bytes of a constant after its tag. Class file format, Java Virtual Machine Specification §4.4. */
const CONSTANT_BYTES: Readonly<Record<number, number>> = {
  3: 4,
  4: 4,
  5: 8,
  6: 8,
  7: 2,
  8: 2,
  9: 4,
  10: 4,
  11: 4,
  12: 4,
  15: 3,
  16: 2,
  17: 4,
  18: 4,
  19: 2,
  20: 2,
}
const UTF8 = 1
const CLASS = 7
/** A `long` and a `double` take two numbers in the constant pool. */
const WIDE = [5, 6]

/** Throws a `RangeError` if the bytes are no class file. */
export function parseClassFile(bytes: Buffer): ClassFile {
  if (bytes.length < 10 || bytes.readUInt32BE(0) !== MAGIC) throw new RangeError('it is not a class file')
  const pool = new ConstantPool(bytes)
  let at = pool.end
  const access = bytes.readUInt16BE(at)
  const name = pool.className(bytes.readUInt16BE(at + 2))
  const superclass = bytes.readUInt16BE(at + 4)
  const interfaces = Array.from({ length: bytes.readUInt16BE(at + 6) }, (_, index) =>
    pool.className(bytes.readUInt16BE(at + 8 + 2 * index)),
  )
  at = skipMembers(bytes, at + 8 + 2 * interfaces.length)
  const isConcrete = (access & (INTERFACE | ABSTRACT)) === 0
  return {
    name,
    parents: superclass === 0 ? interfaces : [pool.className(superclass), ...interfaces],
    isCreatable: isConcrete && (access & PUBLIC) !== 0 && hasPublicConstructor(bytes, at, pool),
    javaVersion: bytes.readUInt16BE(6) - MAJOR_OF_JAVA_0,
  }
}

/** Finds the constants of a class file by their numbers. Strings are decoded when they are requested. */
class ConstantPool {
  /** The position after the pool. */
  readonly end: number
  readonly #bytes: Buffer
  readonly #starts: Uint32Array

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    const count = bytes.readUInt16BE(8)
    this.#starts = new Uint32Array(count)
    let at = 10
    for (let number = 1; number < count; number++) {
      const tag = bytes.readUInt8(at)
      this.#starts[number] = at
      const length = tag === UTF8 ? 2 + bytes.readUInt16BE(at + 1) : CONSTANT_BYTES[tag]
      if (length === undefined) throw new RangeError(`it has a constant of the unknown type ${tag}`)
      at += 1 + length
      if (WIDE.includes(tag)) number++
    }
    this.end = at
  }

  className(number: number): string {
    const start = this.#startOf(number, CLASS)
    return this.text(this.#bytes.readUInt16BE(start + 1)).replaceAll('/', '.')
  }

  text(number: number): string {
    const start = this.#startOf(number, UTF8)
    return this.#bytes.toString('utf8', start + 3, start + 3 + this.#bytes.readUInt16BE(start + 1))
  }

  #startOf(number: number, tag: number): number {
    const start = this.#starts[number] ?? 0
    if (start === 0 || this.#bytes.readUInt8(start) !== tag)
      throw new RangeError(`constant ${number} is of another type`)
    return start
  }
}

/** Returns the position after a list of fields or methods. */
function skipMembers(
  bytes: Buffer,
  start: number,
  onMember: (access: number, name: number, type: number) => void = () => undefined,
): number {
  const count = bytes.readUInt16BE(start)
  let at = start + 2
  for (let member = 0; member < count; member++) {
    onMember(bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2), bytes.readUInt16BE(at + 4))
    const attributes = bytes.readUInt16BE(at + 6)
    at += 8
    for (let attribute = 0; attribute < attributes; attribute++) at += 6 + bytes.readUInt32BE(at + 2)
  }
  return at
}

function hasPublicConstructor(bytes: Buffer, start: number, pool: ConstantPool): boolean {
  let isFound = false
  skipMembers(bytes, start, (access, name, type) => {
    isFound ||= (access & PUBLIC) !== 0 && pool.text(name) === '<init>' && pool.text(type) === '()V'
  })
  return isFound
}
