"""The texts of packages that build systems read, and their examples; a name between two @ is filled
in.
"""

from __future__ import annotations

ARDUINO_PROPERTIES = """\
# Author, maintainer and address are yours to fill in, if you publish it.
name=@prefix@
version=@version@
author=@prefix@
maintainer=@prefix@
sentence=A neural network in integers.
paragraph=Written by netsharp compile. It needs no floating point and no library.
category=Data Processing
url=https://example.com/@prefix@
architectures=@architectures@
includes=@prefix@.h
"""

ARDUINO_EXAMPLE = """\
// Runs the network on features that are all 0, and says the class and how long that took.
#include <@prefix@.h>

static @prefix@_in_t x[@PREFIX@_IN];
static @prefix@_out_t y[@PREFIX@_OUT];
static uint8_t scratch[@PREFIX@_SCRATCH];

void setup() {
  Serial.begin(115200);
}

void loop() {
  const unsigned long before = micros();
  @prefix@_run(x, y, scratch);
  const unsigned long spent = micros() - before;
  Serial.print("answer ");
  Serial.print(@prefix@_argmax(y));
  Serial.print(" after ");
  Serial.print(spent);
  Serial.println(" microseconds");
  delay(1000);
}
"""

HOSTED_EXAMPLE = """\
/* Runs the network on codes that are all 0, and prints its answers. */
#include <stdio.h>
#include "@prefix@.h"

int main(void)
{
    static @prefix@_in_t x[@PREFIX@_IN];
    static @prefix@_out_t y[@PREFIX@_OUT];
    static uint8_t scratch[@PREFIX@_SCRATCH];
    @prefix@_run(x, y, scratch);
    for (int n = 0; n < @PREFIX@_OUT; n++)
        printf("%d: %d\\n", n, (int)y[n]);
    printf("largest: %d\\n", @prefix@_argmax(y));
    return 0;
}
"""

PLATFORMIO_EXAMPLE = """\
; For this machine; a board is a further section.
[env:native]
platform = native
lib_deps = symlink://../..
"""

CMAKE_LISTS = """\
# The target @prefix@::@prefix@; on its own also its test and an example.
cmake_minimum_required(VERSION 3.13)
project(@prefix@ VERSION @version@ LANGUAGES C)

option(@PREFIX@_WITH_FLOAT "Build @prefix@_quantize, which needs floating point" OFF)

add_library(@prefix@ STATIC
@sources@
)
add_library(@prefix@::@prefix@ ALIAS @prefix@)
target_include_directories(@prefix@ PUBLIC include)
set_target_properties(@prefix@ PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
if(@PREFIX@_WITH_FLOAT)
  target_compile_definitions(@prefix@ PUBLIC NETSHARP_WITH_FLOAT)
endif()

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  enable_testing()
  add_executable(@prefix@_test tests/@prefix@_test.c)
  target_link_libraries(@prefix@_test PRIVATE @prefix@::@prefix@)
  add_test(NAME @prefix@ COMMAND @prefix@_test)
  add_subdirectory(examples/run)
endif()
"""

CMAKE_EXAMPLE = """\
# Alone or below the library.
cmake_minimum_required(VERSION 3.13)
project(@prefix@_run LANGUAGES C)

if(NOT TARGET @prefix@::@prefix@)
  add_subdirectory(../.. @prefix@)
endif()
add_executable(@prefix@_run main.c)
target_link_libraries(@prefix@_run PRIVATE @prefix@::@prefix@)
"""

ZEPHYR_MODULE = """\
name: @prefix@
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
samples:
  - samples
"""

ZEPHYR_LISTS = """\
if(CONFIG_@PREFIX@)
  zephyr_include_directories(../include)
  zephyr_library_named(@prefix@)
  zephyr_library_sources(
@zephyr_sources@
  )
  if(CONFIG_@PREFIX@_WITH_FLOAT)
    zephyr_compile_definitions(NETSHARP_WITH_FLOAT)
  endif()
endif()
"""

ZEPHYR_KCONFIG = """\
config @PREFIX@
    bool "The network @prefix@ in integers"
    help
      A neural network that netsharp compile wrote.

config @PREFIX@_WITH_FLOAT
    bool "Codes of features from floating point"
    depends on @PREFIX@
"""

ZEPHYR_EXAMPLE = """\
cmake_minimum_required(VERSION 3.20.0)
list(APPEND ZEPHYR_EXTRA_MODULES ${CMAKE_CURRENT_SOURCE_DIR}/../..)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(@prefix@_run)

target_sources(app PRIVATE src/main.c)
"""

ZEPHYR_SETTINGS = """\
CONFIG_@PREFIX@=y
"""
