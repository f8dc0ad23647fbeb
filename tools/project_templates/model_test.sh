#!/bin/bash
# Runs the test of a project in its folder, as the build files of projects do.
cd tools/project_templates && exec ./model_test_program
